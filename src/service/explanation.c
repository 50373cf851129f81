#include "service/explanation.h"

#include "base/check.h"
#include "service/json_build.h"

enum { TEXT_MAX = 8 << 10 };

static const char SEPARATOR[] = "; ";

const char *explain_code_name(enum explain_code code)
{
    static const char *const NAMES[] = {
#define X(name, text) [EXPLAIN_##name] = text,
        EXPLAIN_CODE_MAP(X)
#undef X
    };
    CHECK(code < EXPLAIN_CODE_COUNT);
    return NAMES[code];
}

void explanation_init(struct explanation *explanation)
{
    *explanation = (struct explanation){
        .waits_for = json_build_array(),
        .conditions = json_build_array(),
    };
    strbuf_init(&explanation->because, TEXT_MAX);
    strbuf_init(&explanation->change, TEXT_MAX);
}

void explanation_fini(struct explanation *explanation)
{
    strbuf_fini(&explanation->because);
    strbuf_fini(&explanation->change);
    json_decref(explanation->waits_for);
    json_decref(explanation->caused_by);
    json_decref(explanation->conditions);
    explanation->waits_for = explanation->caused_by = explanation->conditions = NULL;
}

void explanation_next(struct explanation *explanation)
{
    if (explanation->because.length > 0)
        strbuf_add(&explanation->because, SEPARATOR);
    explanation->because_noted = explanation->because.length;
}

void explanation_say(struct explanation *explanation, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    strbuf_addv(&explanation->because, format, args);
    va_end(args);
}

void explanation_change(struct explanation *explanation, const char *format, ...)
{
    struct strbuf *change = &explanation->change;
    va_list args;
    bool is_first = change->length == explanation->change_noted;
    if (change->length > 0)
        strbuf_add(change, SEPARATOR);
    if (is_first)
        explanation->change_noted = change->length;
    va_start(args, format);
    strbuf_addv(change, format, args);
    va_end(args);
}

static json_t *text_from(const struct strbuf *text, size_t start)
{
    return text->length > start ? json_text(text->text + start, text->length - start) : json_null();
}

json_t *explanation_note(struct explanation *explanation, enum explain_code code)
{
    json_t *condition = json_build_object();
    json_put_string(condition, "code", explain_code_name(code));
    json_put(condition, "because", text_from(&explanation->because, explanation->because_noted));
    json_put(condition, "change", text_from(&explanation->change, explanation->change_noted));
    json_build_append(explanation->conditions, condition);
    explanation_lead(explanation);
    return condition;
}

void explanation_lead(struct explanation *explanation)
{
    explanation->because_noted = explanation->because.length;
    explanation->change_noted = explanation->change.length;
}
