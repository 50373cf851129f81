#include <stdlib.h>

#include "base/mem.h"
#include "expect.h"
#include "spec/spec.h"
#include "spec/spec_find.h"
#include "tree.h"

Test(examples, every_example_is_a_good_file_without_a_warning)
{
    static const char folder[] = TREE "/examples";
    struct spec_paths paths = {0};
    struct err err = {0};
    EXPECT_OK(spec_find_files(folder, &paths, &err), &err);
    cr_expect_geq(paths.count, 8);
    for (size_t i = 0; i < paths.count; i++) {
        CLEANUP(spec_file_freep) struct spec_file *file = NULL;
        EXPECT_OK(spec_load_file(paths.items[i], &file, &err), &err);
        cr_expect_eq(file->diags.count, 0, "%s: %s", paths.items[i],
                     file->diags.count > 0 ? file->diags.items[0].text : "");
        cr_expect_eq(file->dags_count, 1);
    }
    spec_paths_fini(&paths);
}
