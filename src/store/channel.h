#pragma once
/*
 * channel: what processes of a fleet tell each other through the database. Only hints: whoever
 * misses one finds the work with its next look.
 */
#define STORE_CHANNEL_WORK   "eider_work"   /* something became claimable */
#define STORE_CHANNEL_NEWS   "eider_news"   /* something the scheduler may have waited for */
#define STORE_CHANNEL_NOTICE "eider_notice" /* a message waits to be sent */
#define STORE_CHANNEL_STOP   "eider_stop"   /* a run or job was asked to stop, a host to drain */
