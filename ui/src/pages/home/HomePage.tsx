// The whole at a glance: what is wrong first, then what goes on and what comes.
import { useLoad } from "../../core/load";
import { useScope, type LiveEvent } from "../../core/stream";
import { numberText } from "../../core/time";
import { FirstSteps } from "../../parts/firstSteps";
import { Page, Show } from "../../parts/page";
import { Active, Fullness, Late, Next } from "./Around";
import { Failing } from "./Failing";
import { alertsOf, type Alert, type Home } from "./home";
import { Tiles } from "./Tiles";

/** Progress within a run comes without events of the run. */
const EVERY_MS = 2000;
const KINDS = "run,dag,host,sla,queue,pool";
const isOfHome = (event: LiveEvent): boolean => !event.kind.startsWith("task");

function Alerts({ alerts }: { alerts: Alert[] }) {
  if (alerts.length === 0)
    return (
      <div class="alerts is-calm" role="status">
        <span class="good" aria-hidden="true">✓</span> All is well: nothing fails, nothing is late.
      </div>
    );
  return (
    <ul class="alerts" aria-label="What needs a look">
      {alerts.map((alert) => (
        <li key={alert.text}>
          <a class={`alert ${alert.isBad ? "is-bad" : ""}`} href={alert.href} data-kind={alert.kind}>
            <span aria-hidden="true">{alert.isBad ? "✕" : "!"}</span> {alert.text}
          </a>
        </li>
      ))}
    </ul>
  );
}

function Body({ home }: { home: Home }) {
  const isNew = home.dags.total === 0 && home.import_errors === 0;
  return (
    <>
      {isNew ? <FirstSteps /> : <Alerts alerts={alertsOf(home)} />}
      <Tiles home={home} />
      <div class="home-columns">
        <div>
          <Failing runs={home.failing} />
          <Late home={home} />
          <Active home={home} />
        </div>
        <div>
          <Next next={home.next} />
          <Fullness home={home} />
        </div>
      </div>
    </>
  );
}

export function HomePage() {
  useScope({ kinds: KINDS });
  const loaded = useLoad<Home>("/home", { live: isOfHome, every: EVERY_MS });
  const dags = loaded.data?.dags;
  return (
    <Page title="Home" actions={dags && (
      <a href="/dags" class="dim">
        {numberText(dags.active)} DAGs{dags.paused > 0 && `, ${numberText(dags.paused)} paused`}
      </a>
    )}>
      <Show of={loaded}>{(home) => <Body home={home} />}</Show>
    </Page>
  );
}
