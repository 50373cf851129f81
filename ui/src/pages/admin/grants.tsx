// Roles by namespace, as rows that are added and taken away.
import type { Role } from "../../core/session";
import { NamespaceNames } from "./kept";

export interface Grant {
  namespace: string;
  role: string;
}

export const ROLES: Role[] = ["viewer", "operator", "editor", "admin"];
const MAY: Record<string, string> = {
  viewer: "looks", operator: "also starts, stops and repeats", editor: "also changes and deletes",
  admin: "also manages users and the store",
};

export const grantWords = (grants: Grant[]): string[] => grants.map(({ namespace, role }) => `${namespace}=${role}`);
export const roleOptions = (grants: Grant[]): string[] => grantWords(grants).flatMap((word) => ["--role", word]);

export function GrantRows({ grants, onChange,
  none }: { grants: Grant[]; onChange: (grants: Grant[]) => void; none: string }) {
  const change = (at: number, changes: Partial<Grant>) =>
    onChange(grants.map((grant, i) => (i === at ? { ...grant, ...changes } : grant)));
  return (
    <fieldset class="grants">
      <legend>Roles</legend>
      <NamespaceNames />
      {grants.length === 0 && <small class="dim">{none}</small>}
      {grants.map((grant, i) => (
        <div key={i} class="grant">
          <input value={grant.namespace} required list="namespace-names" aria-label={`Namespace of role ${i + 1}`}
            title="* for all"
            pattern="\*|[A-Za-z0-9_.\-]+" onInput={(event) => change(i, { namespace: event.currentTarget.value })} />
          <select value={grant.role} aria-label={`Role ${i + 1}`}
            onChange={(event) => change(i, { role: event.currentTarget.value })}>
            {ROLES.map((role) => <option key={role} value={role}>{role}: {MAY[role]}</option>)}
          </select>
          <button type="button" class="quiet small" aria-label={`Take role ${i + 1} away`}
            onClick={() => onChange(grants.filter((_, at) => at !== i))}>✕</button>
        </div>
      ))}
      <button type="button" class="small"
        onClick={() => onChange([...grants, { namespace: "*", role: "viewer" }])}>Add a role</button>
      <small class="dim">* stands for all namespaces.</small>
    </fieldset>
  );
}

export function GrantTags({ grants }: { grants: Grant[] }) {
  if (grants.length === 0) return <span class="dim">none</span>;
  return <>{grants.map(({ namespace, role }) => (
    <span key={namespace} class="tag">{role}{namespace === "*" ? " everywhere" : ` in ${namespace}`}</span>))}</>;
}

/** "*=viewer,sales=editor", as lists of tokens tell it. */
export function grantsOfText(text: string | null): Grant[] {
  return (text ?? "").split(/[\s,]+/).filter((word) => word.includes("=")).map((word) => {
    const at = word.lastIndexOf("=");
    return { namespace: word.slice(0, at), role: word.slice(at + 1) };
  });
}
