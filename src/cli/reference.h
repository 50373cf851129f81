#pragma once
/*
 * reference: parts of the documents, made from the tables that the program works by.
 *
 * tools/write-docs puts each part between its markers in docs/; a test compares them.
 */
#include <stdbool.h>
#include <stdio.h>

/* Prints the part called `name` as Markdown; false when there is none of that name. */
bool reference_print(FILE *out, const char *name);
/* " cli dag-keys task-keys ...": every name after a space. */
extern const char REFERENCE_NAMES[];

/* A cell of a Markdown table: bars are escaped. */
void reference_cell(FILE *out, const char *text);
/* The part `operations`; in a file of its own, since both tables call their types field_type. */
void reference_operations(FILE *out);
