/*
 * Options that every command has.
 */
#include "cli/command_options.h"

#define FORMATS "table wide json yaml csv name"

/* clang-format off */
static const struct command_option GLOBAL[] = {
    {"output", 'o', "FORMAT", "table, wide, json, yaml, csv or name", false, COMPLETE_CHOICE,
        FORMATS, NULL},
    {"store", 0, "URL", "where state is kept", false, COMPLETE_FILE, NULL, "store"},
    {"home", 0, "DIR", "state directory", false, COMPLETE_FOLDER, NULL, "home"},
    {"server", 0, "URL", "talk to this server; off: to none", false, COMPLETE_NONE, NULL, "server"},
    {"context", 0, "NAME", "talk to the server of this name", false, COMPLETE_NONE, NULL, "context"},
    {"token", 0, "TOKEN", "what shows the server who asks", false, COMPLETE_NONE, NULL, "token"},
    {"ca-file", 0, "FILE", "who vouches for the server", false, COMPLETE_FILE, NULL, "ca_file"},
    SWITCH("no-color", 0, "no colours"),
    SWITCH("quiet", 'q', "only data and errors"),
    SWITCH("verbose", 'v', "say more"),
    {"log-level", 0, "LEVEL", "the program's own messages", false, COMPLETE_CHOICE,
        "error warn info debug", "log_level"},
    {"log-format", 0, "FORM", "form of those messages", false, COMPLETE_CHOICE, "text json",
        "log_format"},
    {"dags", 0, "DIR", "folder of DAG files", false, COMPLETE_FOLDER, NULL, "dags"},
    SWITCH("help", 'h', "show help"),
    SWITCH("version", 0, "show the version"),
};
const struct option_list GLOBAL_OPTIONS = OPTIONS(GLOBAL);

const struct command_option WATCH_OPTION =
    SWITCH("watch", 'w', "show again every two seconds");
/* clang-format on */
