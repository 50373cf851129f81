// What somebody likes on this device: the theme and the time zone. Everything else is in the URL.
import { effect, signal } from "@preact/signals";

export type Theme = "system" | "light" | "dark";

function read(name: string, or: string): string {
  try {
    return localStorage.getItem("eider." + name) ?? or;
  } catch {
    return or; // storage may be forbidden
  }
}

function write(name: string, value: string): void {
  try {
    localStorage.setItem("eider." + name, value);
  } catch {
    // then it lasts as long as the tab
  }
}

export const ownZone = Intl.DateTimeFormat().resolvedOptions().timeZone || "UTC";

function knownZone(zone: string): string {
  try {
    new Intl.DateTimeFormat("en", { timeZone: zone });
    return zone;
  } catch {
    return ownZone;
  }
}

export const theme = signal<Theme>(read("theme", "system") as Theme);
export const zone = signal<string>(knownZone(read("zone", ownZone)));

const darkSystem = matchMedia("(prefers-color-scheme: dark)");
export const isDark = signal(false);

effect(() => {
  write("theme", theme.value);
  isDark.value = theme.value === "dark" || (theme.value === "system" && darkSystem.matches);
  document.documentElement.dataset["theme"] = isDark.value ? "dark" : "light";
});
darkSystem.addEventListener("change", () => {
  if (theme.value !== "system") return;
  isDark.value = darkSystem.matches;
  document.documentElement.dataset["theme"] = isDark.value ? "dark" : "light";
});
effect(() => write("zone", zone.value));
