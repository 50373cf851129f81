export { DagsPage } from "./DagsPage";
export { ImportErrorsPage } from "./ImportErrorsPage";
