// Who sits before the screen, and what that one may do.
import { signal } from "@preact/signals";
import { get, post, Problem, setCsrfToken, whenSignedOut } from "./http";

export type Role = "viewer" | "operator" | "editor" | "admin";
const RANK: Record<Role, number> = { viewer: 1, operator: 2, editor: 3, admin: 4 };

export interface Me {
  name: string;
  user: string | null;
  grants: { namespace: string; role: Role }[];
  csrf_token: string | null;
}

/** undefined: not known yet; null: nobody is signed in. */
export const me = signal<Me | null | undefined>(undefined);
/** The server could not be asked. */
export const meProblem = signal<Problem | null>(null);

function enter(who: Me): void {
  setCsrfToken(who.csrf_token);
  meProblem.value = null;
  me.value = who;
}

whenSignedOut(() => {
  if (me.value !== undefined) me.value = null;
});

export async function loadMe(): Promise<void> {
  try {
    enter(await get<Me>("/me"));
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    if (error.status === 401) me.value = null;
    else meProblem.value = error;
  }
}

export async function signIn(username: string, password: string): Promise<void> {
  enter(await post<Me>("/login", { username, password }));
}

export async function signOut(): Promise<void> {
  await post("/logout");
  me.value = null;
}

/** Whether the role is had in a namespace; without one: in all of them. */
export function can(role: Role, namespace?: string | null): boolean {
  return (me.value?.grants ?? []).some(
    (grant) => (grant.namespace === "*" || grant.namespace === namespace) && RANK[grant.role] >= RANK[role],
  );
}

/** Whether the role is had anywhere. */
export function canSomewhere(role: Role): boolean {
  return (me.value?.grants ?? []).some((grant) => RANK[grant.role] >= RANK[role]);
}
