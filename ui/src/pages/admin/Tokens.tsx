// Tokens of programs and workers: shown once, when they are made.
import { useState } from "preact/hooks";
import { durationProblem, wordsOf } from "../../core/checks";
import { useLoad } from "../../core/load";
import { pathOf } from "../../core/route";
import { can, me } from "../../core/session";
import { Action } from "../../parts/action";
import { Ago, Command } from "../../parts/basics";
import { Dialog } from "../../parts/dialog";
import { Choose, Input, Pair, useForm } from "../../parts/inputs";
import { Page, Show } from "../../parts/page";
import { Table } from "../../parts/table";
import { GrantRows, grantsOfText, grantWords, GrantTags, roleOptions, type Grant } from "./grants";
import { OwnPassword } from "./password";
import type { Token } from "./types";

export function TokensPage() {
  const loaded = useLoad<{ tokens: Token[] }>("/tokens", { every: 15_000 });
  return (
    <Page title="Tokens" actions={<><OwnPassword /><AddToken onDone={loaded.reload} /></>}>
      <Show of={loaded}>{(data) => (
        <Table isFolding label="Tokens" rows={data.tokens} keyOf={(token) => token.id}
          empty="No tokens. Programs and workers show who they are with one."
          columns={[
            { name: "Name",
              cell: (token) =>
                <><b class="kept-name">{token.name}</b><div><small class="dim">number {token.id}</small></div></> },
            { name: "Owner", cell: (token) => token.owner ?? <span class="dim">nobody's</span> },
            { name: "May", cell: (token) => <May token={token} /> },
            { name: "Last used", isExtra: true,
              cell: (token) => (token.last_used ? <Ago at={token.last_used} /> : <span class="dim">never</span>) },
            { name: "Expires",
              cell: (token) => (token.expires_at ? <Expiry at={token.expires_at} /> : <span class="dim">never</span>) },
            { name: "Created", isExtra: true,
              cell: (token) => <><Ago at={token.created_at} /> {token.created_by
                && <small class="dim">by {token.created_by}</small>}</> },
            { name: "", cell: (token) => (
              <div class="actions row-actions">
                <Action label={`Take the token ${token.name} back`} face="Revoke" isSmall isDanger isAllowed
                  question="At once: whoever has it is let in no more."
                  done={`The token ${token.name} is void.`} onDone={loaded.reload}
                  change={{ method: "DELETE", path: pathOf("tokens", token.id), takesKey: false,
                    cli: ["tokens", "remove", token.id] }} />
              </div>) },
          ]} />
      )}</Show>
    </Page>
  );
}

function Expiry({ at }: { at: string }) {
  const isOver = Date.parse(at) < Date.now();
  return <span class={isOver ? "bad" : ""}>{isOver && "since "}<Ago at={at} /></span>;
}

function May({ token }: { token: Token }) {
  if (token.queues.length > 0)
    return <>work off {token.queues.map((queue) => <span key={queue}
      class="tag">{queue === "*" ? "all queues" : queue}</span>)}</>;
  const grants = grantsOfText(token.roles);
  return grants.length > 0 ? <GrantTags grants={grants} /> : <span class="dim">what its owner may</span>;
}

function AddToken({ onDone }: { onDone: () => void }) {
  const form = useForm({ name: "", kind: "program", owner: "", queues: "*", expires: "90d" });
  const [grants, setGrants] = useState<Grant[]>([]);
  const [made, setMade] = useState<string | null>(null);
  const { name, kind, owner, queues, expires } = form.values;
  const isWorker = kind === "worker";
  const queueNames = isWorker ? wordsOf(queues) : [];
  const start = () => {
    form.reset();
    setGrants([]);
  };
  return (
    <>
      <Action label="Make a token" face="New token" isMain isAllowed onOpen={start}
        change={{
          path: "/tokens", takesKey: false,
          body: {
            name, ...(owner ? { owner } : {}), ...(expires ? { expires_in: expires } : {}),
            ...(isWorker ? { queues: queueNames } : grants.length > 0 ? { grants: grantWords(grants) } : {}),
          },
          cli: ["tokens", "add", name || "NAME", owner && "--owner", owner, ...(isWorker ? [] : roleOptions(grants)),
            ...queueNames.flatMap((queue) => ["--queue", queue]), expires && "--expires", expires],
        }}
        done={`The token ${name} is made.`}
        onDone={(answer) => {
          setMade((answer as { token: string }).token);
          onDone();
        }}>
        <Pair>
          <Input form={form} name="name" label="Name" isRequired hint="What it is for: ci, laptop, gpu-worker." />
          <Choose form={form} name="kind" label="For"
            choices={[["program", "a program or a person"], ["worker", "a worker"]]} />
          <Input form={form} name="expires" label="Void after" check={durationProblem}
            hint="Such as 90d; empty: never." />
          {can("admin") && <Input form={form} name="owner" label="Whose" placeholder={me.value?.user ?? ""}
            hint="A user; your own by default." />}
        </Pair>
        {isWorker
          ? <Input form={form} name="queues" label="Queues" isRequired
            hint="It works off these and may nothing else; * for all." />
          : <GrantRows grants={grants} onChange={setGrants}
            none="It may all that its owner may, unless roles are given here." />}
      </Action>
      {made && <Made token={made} onClose={() => setMade(null)} />}
    </>
  );
}

function Made({ token, onClose }: { token: string; onClose: () => void }) {
  return (
    <Dialog title="The token, shown this once" onClose={onClose}>
      <p>Keep it where only its program reads it. It cannot be shown again; a lost one is revoked and made anew.</p>
      <Command text={token} />
      <footer class="actions"><button type="button" class="main" onClick={onClose}>I have it</button></footer>
    </Dialog>
  );
}
