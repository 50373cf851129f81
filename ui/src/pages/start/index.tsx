// What starts runs, a file each.
export { TriggerPage } from "./TriggerPage";
export { BackfillFormPage } from "./BackfillFormPage";
export { BackfillsPage } from "./BackfillsPage";
export { BackfillPage } from "./BackfillPage";
