#include "service/explain_fleet.h"

#include "base/attrs.h"
#include "model/share.h"
#include "model/word_set.h"

static void add_room(const struct fleet_host *host, int64_t max_share, struct fleet_answer *answer)
{
    int64_t share = max_share > 0 ? share_of_slots(host->slots, max_share) : 0;
    answer->slots += host->slots;
    answer->holds += MIN(host->holds, host->slots);
    answer->share += share;
    answer->sharing += MIN(host->sharing, share);
    answer->has_share_room |= max_share == 0 || host->sharing < share;
}

struct fleet_answer fleet_ask(struct fleet_hosts hosts, const struct fleet_want *want)
{
    struct fleet_answer answer = {.living = (int64_t)hosts.count};
    for (size_t i = 0; i < hosts.count; i++) {
        const struct fleet_host *host = &hosts.items[i];
        bool serves = host->queues[0] == '\0' || word_set_has(host->queues, want->queue);
        bool is_able = serves && word_set_is_part(want->labels, host->labels);
        answer.serving += serves;
        answer.able += is_able;
        if (!is_able)
            continue;
        if (host->is_draining) {
            *(host->is_stopping ? &answer.stopper : &answer.drainer) = host->name;
            continue;
        }
        answer.taking++;
        add_room(host, want->max_share, &answer);
    }
    return answer;
}
