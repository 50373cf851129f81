export { DeadPage } from "./Dead";
export { HostsPage } from "./Hosts";
export { JobPage } from "./Job";
export { JobsPage } from "./Jobs";
export { PoolsPage } from "./Pools";
export { QueuesPage } from "./Queues";
