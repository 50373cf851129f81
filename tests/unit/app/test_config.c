/*
 * What the outside says, in the forms it may say it.
 */
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "app/config.h"
#include "expect.h"

static const char KEY[] = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";

static void go_to_a_folder(void)
{
    char dir[] = "/tmp/eider-config-XXXXXX";
    cr_assert_not_null(mkdtemp(dir));
    cr_assert_eq(chdir(dir), 0);
}

static void write_text(const char *path, const char *text)
{
    FILE *file = fopen(path, "we");
    cr_assert_not_null(file);
    cr_assert_geq(fputs(text, file), 0);
    cr_assert_eq(fclose(file), 0);
}

Test(config, the_key_is_taken_out_of_the_environment)
{
    struct err err = {0};
    struct config config;
    go_to_a_folder();
    cr_assert_eq(setenv("EIDER_SECRET_KEY", KEY, 1), 0);
    const char *where = getenv("EIDER_SECRET_KEY");

    EXPECT_OK(config_load(NULL, &config, &err), &err);

    EXPECT_STR(KEY, config.vault.key_text);
    cr_expect_null(getenv("EIDER_SECRET_KEY"));
    cr_expect_eq(where[0], '\0', "the value itself is wiped");
    cr_expect_eq(prctl(PR_GET_DUMPABLE, 0, 0, 0, 0), 0);
    config_fini(&config);
}

Test(config, without_a_key_the_process_stays_as_it_is)
{
    struct err err = {0};
    struct config config;
    go_to_a_folder();
    cr_assert_eq(unsetenv("EIDER_SECRET_KEY"), 0);

    EXPECT_OK(config_load(NULL, &config, &err), &err);

    cr_expect_null(config.vault.key_text);
    cr_expect_eq(prctl(PR_GET_DUMPABLE, 0, 0, 0, 0), 1);
    EXPECT_STR(".eider/secret.key", config.vault.key_file);
    config_fini(&config);
}

Test(config, files_give_variables_and_connections)
{
    struct err err = {0};
    struct config config;
    go_to_a_folder();
    write_text("eider.yaml", "secrets_dir: creds\nsecret_key_file: /etc/eider/key\n");
    write_text("variables.yaml", "bucket: lake\nlimits: {rows: 5}\n");
    write_text("connections.yaml", "db: postgres://me@h/x\n");

    EXPECT_OK(config_load(NULL, &config, &err), &err);

    EXPECT_STR("lake", json_get_string(config.vault.variables, "bucket", ""));
    EXPECT_STR("postgres://me@h/x", json_get_string(config.vault.connections, "db", ""));
    EXPECT_STR("creds", config.vault.secrets_dir);
    EXPECT_STR("/etc/eider/key", config.vault.key_file);
    config_fini(&config);
}

Test(config, systemd_says_where_credentials_are)
{
    struct err err = {0};
    struct config config;
    go_to_a_folder();
    cr_assert_eq(setenv("CREDENTIALS_DIRECTORY", "/run/credentials/eider", 1), 0);

    EXPECT_OK(config_load(NULL, &config, &err), &err);

    EXPECT_STR("/run/credentials/eider", config.vault.secrets_dir);
    config_fini(&config);
}
