/*
 * db_bulk: statements for many rows, and wake-ups; what a driver does not have is done here in the
 * plain way.
 */
#include <poll.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "store/db_driver.h"

void db_bulk_init(struct db_bulk *bulk, const struct db_bulk_form *form)
{
    *bulk = (struct db_bulk){.form = form, .columns = strlen(form->format)};
}

void db_bulk_fini(struct db_bulk *bulk)
{
    free(bulk->cells);
    *bulk = (struct db_bulk){0};
}

static struct db_cell take_cell(char letter, va_list *args)
{
    struct db_cell cell = {.letter = letter};
    switch (letter) {
    case 'i':
    case 'x':
    case 'z':
        cell.number = va_arg(*args, int64_t);
        cell.letter =
            (letter == 'z' && cell.number == 0) || (letter == 'x' && cell.number < 0) ? 'n' : 'i';
        return cell;
    case 't':
        cell.bytes = va_arg(*args, const char *);
        cell.size = cell.bytes != NULL ? strlen(cell.bytes) : 0;
        break;
    case 'b':
        cell.bytes = va_arg(*args, const void *);
        cell.size = va_arg(*args, size_t);
        break;
    default:
        CHECK(letter == 'n');
    }
    if (cell.bytes == NULL)
        cell.letter = 'n';
    return cell;
}

void db_bulk_add(struct db_bulk *bulk, ...)
{
    va_list args;
    va_start(args, bulk);
    for (size_t i = 0; i < bulk->columns; i++) {
        size_t count = bulk->rows * bulk->columns + i;
        bulk->cells = mem_grow(bulk->cells, &bulk->capacity, count, sizeof *bulk->cells);
        bulk->cells[count] = take_cell(bulk->form->format[i], &args);
    }
    va_end(args);
    bulk->rows++;
}

static void bind_cell(struct db_stmt *stmt, int index, const struct db_cell *cell)
{
    const struct db_driver *driver = stmt->driver;
    if (cell->letter == 'i')
        driver->bind_int(stmt, index, cell->number);
    else if (cell->letter == 't')
        driver->bind_text(stmt, index, cell->bytes);
    else if (cell->letter == 'b')
        driver->bind_blob(stmt, index, cell->bytes, cell->size);
    else
        driver->bind_null(stmt, index, 'n');
}

static enum status run_one_by_one(struct db *db, const struct db_bulk *bulk, int64_t expected,
                                  struct err *err)
{
    int64_t changes = 0;
    for (size_t row = 0; row < bulk->rows; row++) {
        struct db_stmt *stmt = NULL;
        if (db->driver->prepare(db, bulk->form->one, &stmt, err) != STATUS_OK)
            return err->code;
        for (size_t i = 0; i < bulk->columns; i++)
            bind_cell(stmt, (int)i + 1, &bulk->cells[row * bulk->columns + i]);
        for (bool more = true; more;)
            if (db_step(stmt, &more, err) != STATUS_OK)
                return err->code;
        changes += db->changes;
    }
    if (expected != DB_ANY_CHANGES && changes != expected)
        return err_set(err, STATUS_BUSY, "a %s was changed meanwhile", bulk->form->what);
    return STATUS_OK;
}

enum status db_bulk_run(struct db *db, struct db_bulk *bulk, int64_t expected, struct err *err)
{
    if (bulk->rows == 0)
        return STATUS_OK;
    enum status status = db->driver->bulk != NULL ? db->driver->bulk(db, bulk, expected, err)
                                                  : run_one_by_one(db, bulk, expected, err);
    bulk->rows = 0;
    return status;
}

enum status db_listen(struct db *db, const char *channel, struct err *err)
{
    return db->driver->listen != NULL ? db->driver->listen(db, channel, err) : STATUS_OK;
}

enum status db_notify(struct db *db, const char *channel, const char *text, struct err *err)
{
    return db->driver->notify != NULL ? db->driver->notify(db, channel, text, err) : STATUS_OK;
}

enum status db_wait(struct db *db, int wake_fd, int64_t timeout_ms, bool *out_heard,
                    struct err *err)
{
    if (db->driver->wait != NULL)
        return db->driver->wait(db, wake_fd, timeout_ms, out_heard, err);
    struct pollfd fd = {.fd = wake_fd, .events = POLLIN};
    (void)poll(&fd, 1, (int)timeout_ms);
    *out_heard = false;
    return STATUS_OK;
}
