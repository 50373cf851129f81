#include "app/lease_settings.h"

#include "base/check.h"

/* Who only shortens the lease wants the rest shortened with it. */
static int64_t part_of_lease(const struct settings *settings, enum setting_key key,
                             int64_t lease_ms, int64_t divisor)
{
    int64_t value = settings_number(settings, key);
    return settings->values[key].origin == ORIGIN_DEFAULT ? MIN(value, lease_ms / divisor) : value;
}

enum status lease_settings_read(const struct settings *settings, struct lease_times *out,
                                struct err *err)
{
    int64_t lease_ms = settings_number(settings, SETTING_LEASE);
    struct lease_times times = {
        .lease_ms = lease_ms,
        .renew_ms = part_of_lease(settings, SETTING_RENEW, lease_ms, 3),
        .margin_ms = part_of_lease(settings, SETTING_MARGIN, lease_ms, 6),
    };
    if (lease_ms < 3 * times.renew_ms)
        return err_set(err, STATUS_INVALID,
                       "lease (%lld ms) must be at least three times renew (%lld ms), so that one "
                       "lost renewal costs nothing",
                       (long long)lease_ms, (long long)times.renew_ms);
    if (times.margin_ms + times.renew_ms >= lease_ms)
        return err_set(err, STATUS_INVALID,
                       "margin (%lld ms) and renew (%lld ms) leave nothing of lease (%lld ms)",
                       (long long)times.margin_ms, (long long)times.renew_ms, (long long)lease_ms);
    *out = times;
    return STATUS_OK;
}
