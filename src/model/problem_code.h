#pragma once
/*
 * problem_code: statuses as the code and the word that a problem over HTTP carries, and back. Pure.
 *
 * Several statuses share a code of HTTP, so the word tells them apart: whoever asks from elsewhere
 * gets the status that a call in the same process would have had.
 */
#include "base/attrs.h"
#include "base/err.h"

/* The code of HTTP that stands for a status. */
int problem_code_of(enum status status);
/* "bad_dag" of STATUS_BAD_DAG. */
const char *problem_code_word(enum status status);
/*
 * The status of a problem: by its word, or, where that is missing or none of ours, by its code.
 * Never STATUS_OK.
 */
enum status problem_code_status(int code, const char *word);
