/*
 * main: the program `eider`, and the keeper that it starts as `eider __keeper`.
 */
#include <string.h>

#include "app/app.h"
#include "base/json_pool.h"
#include "worker/keeper.h"
#include "worker/keeper_client.h"

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "__keeper") == 0)
        return keeper_main(KEEPER_SOCKET_FD);
    json_pool_start();
    return app_main(argc, (const char *const *)argv);
}
