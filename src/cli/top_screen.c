#include "cli/top_screen.h"

#include <errno.h>
#include <langinfo.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <string.h>

#define NCURSES_WIDECHAR 1
#include <ncurses.h>

#include "base/check.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/strbuf.h"
#include "cli/top.h"

/* Long enough for the bytes of one key on a slow line, short enough for who presses Escape. */
enum { ESCAPE_MS = 60, ROW_MAX = 1 << 16, CONTROL_L = 12, CONTROL_Z = 26 };

struct top_screen {
    SCREEN *terminal;
    int in;
    bool utf8;
    attr_t looks[TOP_LOOK_COUNT];
};

/* --- looks ----------------------------------------------------------------------------------- */

static const struct {
    short color; /* -1: as usual */
    short ground;
    attr_t colored;
    attr_t plain; /* without colours */
} LOOKS[TOP_LOOK_COUNT] = {
    [TOP_LOOK_PLAIN] = {-1, -1, A_NORMAL, A_NORMAL},
    [TOP_LOOK_DIM] = {-1, -1, A_DIM, A_NORMAL},
    [TOP_LOOK_BOLD] = {-1, -1, A_BOLD, A_BOLD},
    [TOP_LOOK_GOOD] = {COLOR_GREEN, -1, A_NORMAL, A_NORMAL},
    [TOP_LOOK_BAD] = {COLOR_RED, -1, A_BOLD, A_BOLD},
    [TOP_LOOK_CARE] = {COLOR_YELLOW, -1, A_NORMAL, A_BOLD},
    [TOP_LOOK_ACTIVE] = {COLOR_CYAN, -1, A_NORMAL, A_NORMAL},
    [TOP_LOOK_LEFT] = {COLOR_MAGENTA, -1, A_NORMAL, A_NORMAL},
    [TOP_LOOK_CHOSEN] = {-1, -1, A_REVERSE, A_REVERSE},
    [TOP_LOOK_HEADING] = {COLOR_BLACK, COLOR_CYAN, A_NORMAL, A_BOLD | A_UNDERLINE},
};

static void set_looks(struct top_screen *screen, bool color)
{
    bool has_color = color && has_colors() && start_color() == OK;
    if (has_color)
        (void)use_default_colors();
    for (int i = 0; i < TOP_LOOK_COUNT; i++) {
        screen->looks[i] = has_color ? LOOKS[i].colored : LOOKS[i].plain;
        if (!has_color || LOOKS[i].color < 0)
            continue;
        (void)init_pair((short)(i + 1), LOOKS[i].color, LOOKS[i].ground);
        screen->looks[i] |= (attr_t)COLOR_PAIR(i + 1);
    }
}

/* --- open and close -------------------------------------------------------------------------- */

/* The console of Linux has UTF-8 but few of its characters. */
static bool shows_utf8(const struct top_screen_options *options)
{
    (void)setlocale(LC_CTYPE, "");
    return options->utf8 && strcmp(nl_langinfo(CODESET), "UTF-8") == 0 &&
           !str_equal(options->term, "linux");
}

/* Printers and the like have a kind, too. */
static bool can_move(void)
{
    const char *move = tigetstr("cup");
    return move != NULL && (intptr_t)move != -1;
}

static SCREEN *open_terminal(const struct top_screen_options *options)
{
    SCREEN *terminal = newterm(NULL, options->out, options->in);
    if (terminal == NULL)
        return NULL;
    (void)set_term(terminal);
    if (can_move())
        return terminal;
    (void)endwin();
    delscreen(terminal);
    return NULL;
}

enum status top_screen_open(const struct top_screen_options *options, struct top_screen **out,
                            struct err *err)
{
    struct top_screen *screen = mem_zalloc(1, sizeof *screen);
    screen->in = fileno(options->in);
    screen->utf8 = shows_utf8(options);
    screen->terminal = open_terminal(options);
    if (screen->terminal == NULL) {
        mem_freep(&screen);
        return err_set(err, STATUS_INVALID,
                       "a terminal of kind '%.40s' cannot show it: set TERM to what yours is, such "
                       "as xterm",
                       options->term != NULL ? options->term : "");
    }
    (void)raw(); /* an interrupt is a key, so that the terminal is given back in order */
    (void)noecho();
    (void)nonl();
    (void)keypad(stdscr, TRUE);
    (void)nodelay(stdscr, TRUE);
    (void)set_escdelay(ESCAPE_MS);
    (void)curs_set(0);
    set_looks(screen, options->color);
    *out = screen;
    return STATUS_OK;
}

void top_screen_close(struct top_screen *screen)
{
    if (screen == NULL)
        return;
    (void)endwin();
    delscreen(screen->terminal);
    mem_freep(&screen);
}

bool top_screen_utf8(const struct top_screen *screen)
{
    return screen->utf8;
}

void top_screen_resize(struct top_screen *screen, size_t columns, size_t rows)
{
    (void)screen;
    if ((int)columns != COLS || (int)rows != LINES)
        (void)resizeterm((int)rows, (int)columns);
}

/* --- pictures -------------------------------------------------------------------------------- */

static void draw_row(const struct top_screen *screen, const struct top_canvas *canvas, size_t row)
{
    const struct top_cell *cells = &canvas->cells[row * canvas->columns];
    CLEANUP(strbuf_fini) struct strbuf text;
    strbuf_init(&text, ROW_MAX);
    for (size_t start = 0; start < canvas->columns;) {
        size_t end = start;
        strbuf_clear(&text);
        for (; end < canvas->columns && cells[end].look == cells[start].look; end++)
            strbuf_add(&text, cells[end].text);
        (void)attrset((int)screen->looks[cells[start].look]);
        /* At the last cell of the screen it fails, having drawn it. */
        (void)mvaddnstr((int)row, (int)start, text.text, (int)text.length);
        start = end;
    }
}

void top_screen_draw(struct top_screen *screen, const struct top_canvas *canvas)
{
    for (size_t row = 0; row < canvas->rows; row++)
        draw_row(screen, canvas, row);
    (void)refresh();
}

/* --- keys ------------------------------------------------------------------------------------ */

static const struct {
    wint_t code;
    enum top_key key;
} SPECIAL[] = {
    {KEY_UP, TOP_KEY_UP},         {KEY_DOWN, TOP_KEY_DOWN},
    {KEY_LEFT, TOP_KEY_LEFT},     {KEY_RIGHT, TOP_KEY_RIGHT},
    {KEY_PPAGE, TOP_KEY_PAGE_UP}, {KEY_NPAGE, TOP_KEY_PAGE_DOWN},
    {KEY_HOME, TOP_KEY_HOME},     {KEY_END, TOP_KEY_END},
    {KEY_ENTER, TOP_KEY_ENTER},   {KEY_BACKSPACE, TOP_KEY_BACKSPACE},
    {KEY_BTAB, TOP_KEY_BACK_TAB}, {KEY_DC, TOP_KEY_BACKSPACE},
};

static const struct {
    wint_t character;
    enum top_key key;
} CONTROLS[] = {
    {'\r', TOP_KEY_ENTER}, {'\n', TOP_KEY_ENTER},  {'\t', TOP_KEY_TAB},
    {27, TOP_KEY_ESCAPE},  {8, TOP_KEY_BACKSPACE}, {127, TOP_KEY_BACKSPACE},
};

/* As other programs do when they are sent to the background. */
static void stand_back(void)
{
    (void)def_prog_mode();
    (void)endwin();
    (void)raise(SIGTSTP);
    (void)reset_prog_mode();
    (void)refresh();
}

static uint32_t read_special(wint_t code)
{
    for (size_t i = 0; i < ARRAY_LEN(SPECIAL); i++)
        if (SPECIAL[i].code == code)
            return SPECIAL[i].key;
    return TOP_KEY_NONE;
}

static uint32_t read_character(wint_t character)
{
    for (size_t i = 0; i < ARRAY_LEN(CONTROLS); i++)
        if (CONTROLS[i].character == character)
            return CONTROLS[i].key;
    if (character == CONTROL_L)
        (void)clearok(curscr, TRUE); /* the whole picture anew */
    if (character == CONTROL_Z)
        stand_back();
    return character == CONTROL_L || character == CONTROL_Z ? TOP_KEY_NONE : (uint32_t)character;
}

/* False: nothing was pressed. */
static bool take_key(uint32_t *out)
{
    wint_t code = 0;
    int kind = get_wch(&code);
    if (kind == ERR)
        return false;
    *out = kind == KEY_CODE_YES ? read_special(code) : read_character(code);
    return true;
}

bool top_screen_key(struct top_screen *screen, int also, int64_t wait_ms, uint32_t *out)
{
    struct pollfd inputs[] = {{.fd = screen->in, .events = POLLIN}, {.fd = also, .events = POLLIN}};
    *out = TOP_KEY_NONE;
    if (take_key(out))
        return true;
    int ready = poll(inputs, ARRAY_LEN(inputs), (int)wait_ms);
    if (ready < 0)
        return errno == EINTR; /* the size has changed, perhaps */
    if (inputs[0].revents == 0 || take_key(out))
        return true;
    return (inputs[0].revents & (POLLHUP | POLLERR | POLLNVAL)) == 0;
}
