// A small company's daemon with a month behind it: for tests of every page, and for pictures.
import { Daemon, until } from "./harness.mjs";

const SHOP = `title: Orders of the shop
description: From the shop's files to the warehouse, every morning.
owner: data-team
tags: [orders, daily]
schedule: { cron: "30 2 * * *", tz: Europe/Berlin }
start_date: 2026-01-01
max_active_runs: 4
sla: { within: 2h }
params:
  region: { type: string, enum: [all, eu, us], default: all, description: which shops }
  limit: { type: integer, minimum: 1, maximum: 100000, default: 5000, description: orders at most }
  full: { type: boolean, default: false, description: load everything again }
defaults: { retries: 1, retry_delay: 1s }
tasks:
  list_shops:
    run: |
      echo "asking for shops of {{ params.region }}"
      echo '["berlin", "paris", "oslo", "rome"]' > "$EIDER_OUTPUTS/shops"
  clean:
    needs: [load.check]
    pool: warehouse
    run: "echo removed $(( $(date +%N | sed 's/^0*//') % 40 )) duplicates"
  mart:
    needs: [clean]
    pool: warehouse
    outputs: [warehouse://mart/orders]
    run: sleep 0.0$(( $(date +%N | sed 's/^0*//') % 9 )); echo "4,812 rows"
groups:
  load:
    tasks:
      fetch:
        needs: [list_shops]
        foreach: "{{ tasks.list_shops.shops }}"
        label: "{{ item }}"
        run: |
          printf '\\033[32mfetched\\033[0m %s for {{ ds }}\\n' "{{ item }}"
          echo $(( $(date +%N | sed 's/^0*//') % 900 + 100 )) > "$EIDER_OUTPUTS/rows"
      check:
        needs: [fetch]
        run: "echo rows per shop: {{ tasks['load.fetch'].rows | join(' + ') }}"
finally:
  report: { run: echo "told the team" }
`;

const RATES = `title: Exchange rates
owner: finance
tags: [finance, daily]
schedule: { cron: "0 5 * * *", tz: Europe/Berlin }
start_date: 2026-01-01
max_active_runs: 4
tasks:
  fetch:
    outputs: [warehouse://raw/rates]
    run: |
      echo "GET rates for {{ ds }}"
      case {{ ds }} in *-?[49]) echo "HTTP 503 from the bank's server" >&2; exit 1 ;; esac
      echo "32 currencies"
  store: { needs: [fetch], run: echo stored }
`;

const MART = `title: Figures for the board
owner: finance
tags: [finance, reports]
schedule: { datasets: [warehouse://mart/orders, warehouse://raw/rates] }
tasks:
  join: { run: echo joined, outputs: [warehouse://mart/board] }
  draw: { needs: [join], run: echo drew 14 charts }
  send: { needs: [draw], run: echo sent }
`;

const BROKEN_RUN = `title: Customers
owner: crm-team
tags: [crm]
tasks:
  export:
    run: echo "12,004 customers exported"
  upload:
    needs: [export]
    run: |
      echo "connecting to crm.example"
      for part in 1 2 3 4 5 6 7 8; do echo "part $part of 12 sent"; done
      echo "error: the table 'customers_new' does not exist" >&2
      exit 3
  verify: { needs: [upload], run: echo verified }
`;

const WAITS = `title: Deliveries
owner: logistics
tasks:
  file: { sensor: { file: "/nonexistent/deliveries-{{ ds }}.csv" } }
  load: { needs: [file], run: echo loaded }
`;

const LONG = `title: Model training
owner: ml-team
tags: [ml]
tasks:
  prepare: { run: echo prepared }
  train:
    needs: [prepare]
    run: |
      n=1; while [ $n -le 100000 ]; do echo "epoch $n loss 0.$((RANDOM % 1000))"; n=$((n + 1)); sleep 0.5; done
  publish: { needs: [train], run: echo published }
`;

const WRONG = `title: Returns
tasks:
  read: { run: echo read }
  write:
    needs: [raed]
    run: echo write
`;

export const FILES = {
  "shop_orders.yaml": SHOP, "exchange_rates.yaml": RATES, "board_figures.yaml": MART, "customers.yaml": BROKEN_RUN,
  "deliveries.yaml": WAITS, "model_training.yaml": LONG, "returns.yaml": WRONG,
};

const day = (back) => new Date(Date.now() - back * 86_400_000).toISOString().slice(0, 10);

/** What the pages show something of; `days` of history. */
export async function startWorld({ days = 10 } = {}) {
  const daemon = await Daemon.start(FILES);
  await daemon.knows("shop_orders", "exchange_rates", "board_figures", "customers", "deliveries", "model_training");
  await daemon.cli("pools", "set", "warehouse", "--slots", "4", "--description", "connections to the warehouse");
  const backfills = [];
  for (const dag of ["shop_orders", "exchange_rates"])
    backfills.push((await daemon.json("backfill", "create", dag, "--from", day(days), "--to", day(1))).backfill);
  daemon.failed = await daemon.trigger("customers");
  await daemon.cli("vars", "set", "warehouse_host", "wh.internal");
  await daemon.cli("conns", "set", "warehouse", "postgresql://loader:secret@127.0.0.1:5432/dwh");
  await daemon.cli("secrets", "set", "bank_key", "k-1234567890");
  await daemon.cli("queues", "set", "mail", "--soft", "100");
  await daemon.cli("enqueue", "default", "noop", '{"to":"ada@example.org"}');
  await daemon.cli("enqueue", "default", "--retries", "0", "--", "echo no mailbox for bob >&2; exit 2");
  for (const backfill of backfills)
    await until(`backfill ${backfill} is over`, async () =>
      (await daemon.get(`/backfills/${backfill}`)).end_date !== null);
  daemon.waiting = await daemon.trigger("deliveries");
  daemon.running = await daemon.trigger("model_training");
  daemon.good = await daemon.trigger("shop_orders");
  await daemon.isOver(daemon.failed);
  await daemon.isOver(daemon.good);
  daemon.backfill = String(backfills[0]);
  daemon.job = (await daemon.json("jobs", "list")).jobs[0].id;
  return daemon;
}
