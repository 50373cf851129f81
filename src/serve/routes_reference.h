#pragma once
/*
 * routes_reference: the routes as a part of the documents, in Markdown, made from their OpenAPI
 * description.
 */
#include <stdio.h>

void routes_reference(FILE *out);
