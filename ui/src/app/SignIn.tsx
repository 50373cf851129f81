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
          <div class="problem" role="alert"><b>That link lets nobody in any more.</b>
            <p>It was used, is too old, was opened on another machine than the daemon's, or somebody has a password
              by now.</p></div>
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
          <p>Who came in by a link is the user admin; this gives that one, or any other, a password:</p>
          <Command text="eider users set admin --password" />
          <p>While there is nobody else, and admin has no password, the daemon prints another link each time it starts;
            it lets one in once.</p>
        </details>
      </Page>
    </div>
  );
}
