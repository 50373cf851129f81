/* How busy the machine is. */
#include <criterion/criterion.h>

#include "os/machine.h"

static const char MEMINFO[] = "MemTotal:       1000 kB\nMemFree: 10 kB\nMemAvailable:    250 kB\n";

Test(machine, load_is_of_all_cores_and_memory_of_what_is_left)
{
    struct machine_load load = machine_load_read("3.00 1.00 0.50 1/200 999\n", MEMINFO, 2);
    cr_assert_eq(load.cpu_percent, 150);
    cr_assert_eq(load.memory_percent, 75);
}

Test(machine, what_cannot_be_read_does_not_count)
{
    struct machine_load load = machine_load_read("", "MemTotal: 0 kB\n", 0);
    cr_assert_eq(load.cpu_percent, 0);
    cr_assert_eq(load.memory_percent, 0);
}

Test(machine, this_one_uses_some_memory)
{
    struct machine_load load = machine_load_now();
    cr_assert_geq(load.cpu_percent, 0);
    cr_assert_lt(load.memory_percent, 101);
}
