export { AuditPage } from "./Audit";
export { ConnectionsPage } from "./Connections";
export { MessagesPage } from "./Messages";
export { ServerPage } from "./Server";
export { TokensPage } from "./Tokens";
export { UsersPage } from "./Users";
export { VariablesPage } from "./Variables";
