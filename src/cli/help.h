#pragma once
/*
 * help: what `--help`, the man page and the reference say, made from the tables.
 */
#include <stdio.h>

#include "cli/command.h"
#include "cli/style.h"

void help_overview(FILE *out, const struct style *style);
/* The verbs of a noun such as "runs". */
void help_noun(FILE *out, const struct style *style, const char *noun);
void help_command(FILE *out, const struct style *style, const struct command *command);

/* The manual page in roff, section 1. */
void help_manual(FILE *out);
/* docs/cli.md. */
void help_reference(FILE *out);
