// For those whom the server does not know yet.
import { useEffect, useState } from "preact/hooks";
import { Problem } from "../core/http";
import { forgetAnswers } from "../core/load";
import { go, place } from "../core/route";
import { signIn } from "../core/session";
import { durationText } from "../core/time";
import { Command, useEverySecond } from "../parts/basics";
import { Field } from "../parts/form";

export function SignIn() {
  useEffect(() => {
    document.title = "Sign in · Eider";
  }, []);
  return (
    <main class="sign-in" id="main">
      <header>
        <img src={document.querySelector<HTMLLinkElement>("link[rel=icon]")?.href ?? ""} alt="" width="56"
          height="56" />
        <h1>Sign in to Eider</h1>
      </header>
      {place.value.query.get("link") && (
        <div class="problem" role="alert"><b>That link lets nobody in any more.</b>
          <p>It was used, is too old, was opened on another machine than the daemon's,
            or somebody has a password by now.</p></div>
      )}
      <NameAndPassword />
      <NoPassword />
    </main>
  );
}

function NameAndPassword() {
  const [name, setName] = useState("");
  const [password, setPassword] = useState("");
  const [problem, setProblem] = useState<Problem | null>(null);
  const [openAt, setOpenAt] = useState(0);
  const [isBusy, setBusy] = useState(false);
  const enter = async (event: Event) => {
    event.preventDefault();
    setBusy(true);
    try {
      forgetAnswers();
      await signIn(name, password);
      if (place.value.path === "/sign-in") go("/", { replace: true });
      return;
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      setProblem(error);
      const wait = Number(error.body["retry_after"]) || 0;
      setOpenAt(wait > 0 ? Date.now() + wait * 1000 : 0);
    }
    setBusy(false);
  };
  const now = useEverySecond(openAt > 0);
  const left = Math.max(0, Math.ceil((openAt - now) / 1000));
  return (
    <form class="card" onSubmit={(event) => void enter(event)}>
      <Field label="Name"><input autocomplete="username" required autofocus autocapitalize="none" spellcheck={false}
        value={name}
        onInput={(event) => setName(event.currentTarget.value)} /></Field>
      <Field label="Password"><input type="password" autocomplete="current-password" required value={password}
        onInput={(event) => setPassword(event.currentTarget.value)} /></Field>
      {problem && <WhyNot problem={problem} left={left} />}
      <button type="submit" class="main" disabled={isBusy || left > 0}>{isBusy ? "…" : "Sign in"}</button>
    </form>
  );
}

function WhyNot({ problem, left }: { problem: Problem; left: number }) {
  if (problem.status === 401) return <div class="problem" role="alert"><b>The name or the password is wrong.</b></div>;
  if (problem.status === 429)
    return (
      <div class="problem" role="alert"><b>Too many wrong passwords.</b>
        <p>{left > 0 ? `The next one is looked at in ${durationText(left).replace(".0 s", " s")}.`
          : "Now the next one is looked at."}</p></div>
    );
  return <div class="problem" role="alert"><b>{problem.title}</b><p>{problem.detail}</p></div>;
}

function NoPassword() {
  return (
    <details class="card">
      <summary>I have no name and password</summary>
      <p>Somebody with the role admin lets you in, on the page Users. On the machine on which the daemon runs,
        whoever runs it can do so
        without a password:</p>
      <Command text="eider users add NAME --role admin" />
      <p>Who came in by a link is the user admin. This gives that one, or any other, a password:</p>
      <Command text="eider users set admin --password" />
      <p>While there is nobody else, and admin has no password,
        the daemon prints another link each time it starts; it lets one in once.</p>
    </details>
  );
}
