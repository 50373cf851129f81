// A modal dialog and what comes up at the edge: results of actions.
import { signal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";

interface DialogProps {
  title: string;
  onClose: () => void;
  isWide?: boolean;
  children: ComponentChildren;
}

export function Dialog({ title, onClose, isWide, children }: DialogProps) {
  const element = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const dialog = element.current;
    const before = document.activeElement as HTMLElement | null;
    dialog?.showModal();
    // A form is filled in from its first field; a question has its answer in focus already.
    if (!dialog?.querySelector("[autofocus]"))
      dialog?.querySelector<HTMLElement>("form :is(input, select, textarea):not([readonly])")?.focus();
    return () => {
      dialog?.close();
      before?.focus?.();
    };
  }, []);
  return (
    <dialog ref={element} class={isWide ? "is-wide" : ""} aria-label={title}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      onClick={(event) => event.target === element.current && onClose()}>
      <div class="dialog-body">
        <header>
          <h2>{title}</h2>
          <button type="button" class="quiet" aria-label="Close" onClick={onClose}>✕</button>
        </header>
        {children}
      </div>
    </dialog>
  );
}

interface Toast {
  id: number;
  text: string;
  kind: "good" | "bad";
  href?: string | undefined;
}

const toasts = signal<Toast[]>([]);
let lastToast = 0;
const TOAST_MS = 6000;

export function tell(text: string, kind: Toast["kind"] = "good", href?: string): void {
  const id = ++lastToast;
  toasts.value = [...toasts.value.slice(-3), { id, text, kind, href }];
  setTimeout(() => (toasts.value = toasts.value.filter((toast) => toast.id !== id)), TOAST_MS);
}

export function Toasts() {
  return (
    <div class="toasts" role="status" aria-live="polite">
      {toasts.value.map((toast) => (
        <div key={toast.id} class={`toast is-${toast.kind}`}>
          {toast.href ? <a href={toast.href}>{toast.text}</a> : toast.text}
        </div>
      ))}
    </div>
  );
}
