// A password of one's own.
import { pathOf } from "../../core/route";
import { me } from "../../core/session";
import { Action } from "../../parts/action";
import { Input, useForm } from "../../parts/inputs";

export const PASSWORD_BYTES = 8;
export const passwordProblem = (text: string): string | null =>
  text === "" || new TextEncoder().encode(text).length >= PASSWORD_BYTES ? null
    : `At least ${PASSWORD_BYTES} characters.`;

export function OwnPassword() {
  const form = useForm({ old: "", password: "", again: "" });
  const user = me.value?.user;
  if (!user) return null;
  const { old, password } = form.values;
  const shownBody = { password: "***", old_password: "***" };
  return (
    <Action label="Change your password" isAllowed isMain={false} onOpen={form.reset}
      done="Your password is changed: sign in with it."
      question="All your sessions end, also this one. Tokens stay."
      change={{
        method: "PATCH", path: pathOf("users", user), takesKey: false, takesReason: false,
        body: { password, ...(old ? { old_password: old } : {}) }, shownBody, cli: ["users", "set", user, "--password"],
      }}
      onDone={form.reset}>
      <Input form={form} name="old" label="Password until now" type="password" hint="Empty if you have none yet." />
      <Input form={form} name="password" label="New password" type="password" isRequired check={passwordProblem} />
      <Input form={form} name="again" label="The new one again" type="password" isRequired
        check={(text) => (text === password || text === "" ? null : "This is another one.")} />
    </Action>
  );
}
