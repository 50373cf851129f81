// The list of shortcuts.
import { signal } from "@preact/signals";
import { shortcuts } from "../core/keys";
import { Dialog } from "../parts/dialog";

export const helpIsOpen = signal(false);

export function Help() {
  return (
    <Dialog title="Keyboard shortcuts" onClose={() => (helpIsOpen.value = false)}>
      <table class="keys">
        <tbody>
          <tr><td><kbd>Ctrl</kbd> <kbd>K</kbd></td><td>search for everything</td></tr>
          {shortcuts.value.map((shortcut) => (
            <tr key={shortcut.keys + shortcut.what}>
              <td>{shortcut.keys.split(" ").map((key) => <kbd key={key}>{key}</kbd>)}</td>
              <td>{shortcut.what}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Dialog>
  );
}
