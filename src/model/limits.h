#pragma once
/*
 * limits: every bound on sizes that come from outside, in one place.
 */
enum {
    LIMIT_ID_BYTES = 250,                    /* DAG, task, pool, queue names */
    LIMIT_FILE_BYTES = 64 << 20,             /* one DAG file */
    LIMIT_NAMED_FILE_BYTES = 1 << 20,        /* one file that tasks name, such as a script */
    LIMIT_YAML_DEPTH = 64,                   /* nesting of a DAG file */
    LIMIT_YAML_NODES = 4 << 20,              /* values of a DAG file after aliases are resolved */
    LIMIT_DIAGNOSTICS = 100,                 /* problems reported of one file */
    LIMIT_TASKS = 100000,                    /* tasks of one DAG */
    LIMIT_NEEDS = 100000,                    /* parents of one task */
    LIMIT_EDGES = 4 << 20,                   /* dependencies of one DAG */
    LIMIT_INSTANCES = 100000,                /* instances of one mapped task */
    LIMIT_TEMPLATE_BYTES = 1 << 20,          /* one template text */
    LIMIT_TEMPLATE_DEPTH = 64,               /* nesting of expressions and blocks */
    LIMIT_TEMPLATE_STEPS = 10 * 1000 * 1000, /* evaluation steps of one rendering */
    LIMIT_RENDERED_BYTES = 16 << 20,         /* one rendered text */
    LIMIT_VALUE_INLINE_BYTES = 64 << 10,     /* a task value kept in the store itself */
    LIMIT_VALUE_BYTES = 16 << 20,            /* a task value at all */
    LIMIT_VALUES_PER_TASK = 1000,
    LIMIT_PARAMS_BYTES = 1 << 20, /* params or conf of one run */
    LIMIT_NOTE_BYTES = 64 << 10,
    LIMIT_REASON_BYTES = 4 << 10,
    LIMIT_SECRET_BYTES = 64 << 10,  /* one secret, variable or connection */
    LIMIT_MASK_BYTES = 256 << 10,   /* secrets hidden in the output of one task, together */
    LIMIT_PAYLOAD_BYTES = 1 << 20,  /* of one job; also in sql/ */
    LIMIT_PRIORITY = 1000000,       /* of a job or a queue, in both directions; also in sql/ */
    LIMIT_ZONE_TRANSITIONS = 10000, /* changes of its offset that are listed */
    LIMIT_ZONE_RULE_BYTES = 256,    /* the rule for later ones */
    LIMIT_CRON_BYTES = 1000,        /* one cron expression */
    LIMIT_SCHEDULES = 100,          /* of one DAG */
    LIMIT_TIMESTAMPS = 10000,       /* listed in one schedule */
    LIMIT_TRIGGERS = 200,           /* datasets, DAGs, files or webhooks of one schedule */
    LIMIT_TRIGGER_DEPTH = 16,       /* nesting of any and all */
    LIMIT_URI_BYTES = 2000,         /* one dataset */
    LIMIT_OUTPUTS = 1000,           /* datasets of one task */
    LIMIT_PATH_BYTES = 4000,        /* a file that is waited for */
    LIMIT_EXTRA_BYTES = 64 << 10,   /* what is told with an update of a dataset */
    LIMIT_WEBHOOK_BYTES = 1 << 20,  /* body of one call */
    LIMIT_REQUEST_KEY_BYTES = 255,  /* by which a change is done once */
    LIMIT_ANSWER_BYTES = 4 << 20,   /* kept for such a key */
    LIMIT_RETRIES = 1000,
    LIMIT_OWNER_LOSSES = 3, /* lost owners before a task is quarantined */
    LIMIT_HOOKS = 100,      /* entries of one list of hooks */
    LIMIT_HOOK_HEADERS = 50,
    LIMIT_RECIPIENTS = 100,             /* of one mail, to and cc each */
    LIMIT_ALERT_RATE = 1000000,         /* messages of one hook in its time */
    LIMIT_ALERT_LISTED = 10,            /* events that a folded message lists */
    LIMIT_ALERT_ERROR_BYTES = 4 << 10,  /* error text in a message, from its end */
    LIMIT_ALERT_BODY_BYTES = 256 << 10, /* one message */
    LIMIT_ALERT_ANSWER_BYTES = 64 << 10 /* what a receiver answers */
};
