// For those whom the server does not know yet.
import { useState } from "preact/hooks";
import { Problem } from "../core/http";
import { forgetAnswers } from "../core/load";
import { go, place } from "../core/route";
import { signIn } from "../core/session";
import { Command } from "../parts/basics";
import { Field } from "../parts/form";
import { Page, ProblemBox } from "../parts/page";

export function SignIn() {
  const [name, setName] = useState("");
  const [password, setPassword] = useState("");
  const [problem, setProblem] = useState<Problem | null>(null);
  const [isBusy, setBusy] = useState(false);
  const enter = async (event: Event) => {
    event.preventDefault();
    setBusy(true);
    try {
      forgetAnswers();
      await signIn(name, password);
      if (place.value.path === "/sign-in") go("/", { replace: true });
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      setProblem(error);
    }
    setBusy(false);
  };
  return (
    <div class="sign-in">
      <Page title="Sign in to Eider" name="Sign in">
        {place.value.query.get("link") && (
          <div class="problem" role="alert"><b>That link has been used, or is too old.</b>
            <p>Each link lets one in once. A new one comes from the machine on which the daemon runs.</p></div>
        )}
        <form onSubmit={(event) => void enter(event)}>
          <Field label="Name"><input autocomplete="username" required autofocus value={name}
            onInput={(event) => setName(event.currentTarget.value)} /></Field>
          <Field label="Password"><input type="password" autocomplete="current-password" required value={password}
            onInput={(event) => setPassword(event.currentTarget.value)} /></Field>
          {problem && <ProblemBox problem={problem} />}
          <button type="submit" class="main" disabled={isBusy}>Sign in</button>
        </form>
        <details>
          <summary>I have no name and password</summary>
          <p>On the machine on which the daemon runs:</p>
          <Command text="eider users add NAME --role admin" />
          <p>A daemon that has no users yet prints a link when it starts; it lets one in once.</p>
        </details>
      </Page>
    </div>
  );
}
