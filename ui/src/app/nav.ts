// Where one can go from everywhere: the menu, the palette and the shortcuts share this list.
import type { Role } from "../core/session";

export interface NavItem {
  href: string;
  text: string;
  /** After g. */
  key?: string;
  /** In the bar of a phone. */
  isMain?: boolean;
  needs?: Role;
}

export interface NavGroup {
  text: string;
  items: NavItem[];
}

export const NAV: NavGroup[] = [
  { text: "Workflows", items: [
    { href: "/", text: "Home", key: "h", isMain: true },
    { href: "/dags", text: "DAGs", key: "d", isMain: true },
    { href: "/runs", text: "Runs", key: "r", isMain: true },
    { href: "/backfills", text: "Backfills", key: "b" },
    { href: "/errors", text: "Import errors", key: "e" },
  ] },
  { text: "Work", items: [
    { href: "/jobs", text: "Jobs", key: "j" },
    { href: "/dead", text: "Dead letters", key: "l" },
    { href: "/queues", text: "Queues", key: "q" },
    { href: "/pools", text: "Pools and limits", key: "p" },
    { href: "/hosts", text: "Hosts", key: "o" },
  ] },
  { text: "Data", items: [
    { href: "/assets", text: "Assets", key: "a" },
    { href: "/lineage", text: "Lineage", key: "n" },
    { href: "/sla", text: "Deadlines", key: "s" },
  ] },
  { text: "Manage", items: [
    { href: "/variables", text: "Variables", key: "v" },
    { href: "/connections", text: "Connections", key: "c" },
    { href: "/messages", text: "Messages", key: "m" },
    { href: "/audit", text: "Audit", key: "t" },
    { href: "/users", text: "Users", key: "u", needs: "admin" },
    { href: "/tokens", text: "Tokens", key: "k" },
    { href: "/server", text: "Server", key: "i" },
  ] },
];

export const NAV_ITEMS: NavItem[] = NAV.flatMap((group) => group.items);
