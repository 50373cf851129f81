// Who may use the server, and what each may do; the namespaces.
import { useState } from "preact/hooks";
import { nameProblem } from "../../core/checks";
import { useLoad } from "../../core/load";
import { pathOf } from "../../core/route";
import { can, me } from "../../core/session";
import { Action } from "../../parts/action";
import { Ago, StateIcon, Tag } from "../../parts/basics";
import { Input, useForm } from "../../parts/inputs";
import { Page, Section, Show } from "../../parts/page";
import { Table } from "../../parts/table";
import { GrantRows, grantWords, GrantTags, roleOptions, type Grant } from "./grants";
import { NamespacesSection } from "./Namespaces";
import { OwnPassword, passwordProblem } from "./password";
import type { User } from "./types";

export function UsersPage() {
  return (
    <Page title="Users" actions={<OwnPassword />}>
      {can("admin") ? <UsersSection />
        : <p class="notice">The list of users is for the role admin in all namespaces.</p>}
      <NamespacesSection />
    </Page>
  );
}

function UsersSection() {
  const loaded = useLoad<{ users: User[] }>("/users", { every: 15_000 });
  return (
    <Section title="Users" actions={<AddUser onDone={loaded.reload} />}>
      <Show of={loaded}>{(data) => (
        <Table isFolding label="Users" rows={data.users} keyOf={(user) => user.name} empty="Nobody yet."
          columns={[
            { name: "Name",
              cell: (user) => <><b class="kept-name">{user.name}</b> {user.name === me.value?.user
                && <Tag>you</Tag>}</> },
            { name: "Roles", cell: (user) => <GrantTags grants={user.grants} /> },
            { name: "Let in",
              cell: (user) => (user.disabled ? <span class="state"><StateIcon state="cancelled" /> no</span>
              : <span class="state"><StateIcon state="active" /> {user.has_password ? "by password"
                : "by tokens"}</span>) },
            { name: "Since", isExtra: true,
              cell: (user) => <><Ago at={user.created_at} /> {user.created_by
                && <small class="dim">by {user.created_by}</small>}</> },
            { name: "", cell: (user) => <UserActions user={user} onDone={loaded.reload} /> },
          ]} />
      )}</Show>
    </Section>
  );
}

function AddUser({ onDone }: { onDone: () => void }) {
  const form = useForm({ name: "", password: "" });
  const [grants, setGrants] = useState<Grant[]>([]);
  const { name, password } = form.values;
  const body = { name, grants: grantWords(grants), ...(password ? { password } : {}) };
  const start = () => {
    form.reset();
    setGrants([{ namespace: "*", role: "viewer" }]);
  };
  return (
    <Action label="Let somebody in" face="New user" isMain isAllowed={can("admin")} needs="admin" onOpen={start}
      change={{
        path: "/users", takesKey: false, body, shownBody: { ...body, ...(password ? { password: "***" } : {}) },
        cli: ["users", "add", name || "NAME", ...roleOptions(grants), !password && "--no-password"],
      }}
      done={`${name} is a user.`} onDone={() => { form.reset(); onDone(); }}>
      <Input form={form} name="name" label="Name" isRequired check={nameProblem} />
      <Input form={form} name="password" label="Password" type="password" check={passwordProblem}
        hint="Without one only tokens let in." />
      <GrantRows grants={grants} onChange={setGrants} none="Without a role one may nothing." />
    </Action>
  );
}

function UserActions({ user, onDone }: { user: User; onDone: () => void }) {
  return (
    <div class="actions row-actions">
      <ChangeRoles user={user} onDone={onDone} />
      <NewPassword user={user} onDone={onDone} />
      <Action label={user.disabled ? `Let ${user.name} in again` : `Keep ${user.name} out`}
        face={user.disabled ? "Enable" : "Disable"} isSmall
        isAllowed={can("admin")} needs="admin"
        done={user.disabled ? `${user.name} is let in again.` : `${user.name} is let in no more.`} onDone={onDone}
        question={user.disabled ? "With the roles and tokens from before."
          : "At once, with all sessions and tokens. Nothing is deleted."}
        change={{
          method: "PATCH", path: pathOf("users", user.name), takesKey: false, body: { disabled: !user.disabled },
          cli: ["users", "set", user.name, user.disabled ? "--enable" : "--disable"],
        }} />
      <Action label={`Delete ${user.name}`} face="Delete" isSmall isDanger isAllowed={can("admin")} needs="admin"
        done={`${user.name} is deleted.`} onDone={onDone}
        question="With all tokens of that one."
        change={{ method: "DELETE", path: pathOf("users", user.name), takesKey: false,
          cli: ["users", "remove", user.name, "--yes"] }} />
    </div>
  );
}

function ChangeRoles({ user, onDone }: { user: User; onDone: () => void }) {
  const [grants, setGrants] = useState<Grant[]>(user.grants);
  return (
    <Action label={`Roles of ${user.name}`} face="Roles" isSmall isAllowed={can("admin")} needs="admin"
      onOpen={() => setGrants(user.grants)}
      change={{
        method: "PATCH", path: pathOf("users", user.name), takesKey: false, body: { grants: grantWords(grants) },
        cli: ["users", "set", user.name, ...roleOptions(grants)],
      }}
      done={`The roles of ${user.name} are changed.`} onDone={onDone}>
      <GrantRows grants={grants} onChange={setGrants} none="Without a role one may nothing." />
    </Action>
  );
}

function NewPassword({ user, onDone }: { user: User; onDone: () => void }) {
  const form = useForm({ password: "" });
  if (user.name === me.value?.user) return null; // one's own is above
  return (
    <Action label={`A new password for ${user.name}`} face="Password" isSmall isAllowed={can("admin")} needs="admin"
      onOpen={form.reset}
      question="All sessions of that one end."
      change={{
        method: "PATCH", path: pathOf("users", user.name), takesKey: false, body: { password: form.values.password },
        shownBody: { password: "***" }, cli: ["users", "set", user.name, "--password"],
      }}
      done={`${user.name} has a new password.`} onDone={() => { form.reset(); onDone(); }}>
      <Input form={form} name="password" label="New password" type="password" isRequired check={passwordProblem} />
    </Action>
  );
}
