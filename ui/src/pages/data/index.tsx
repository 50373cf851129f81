export { AssetPage } from "./Asset";
export { AssetsPage } from "./Assets";
export { LineagePage } from "./Lineage";
export { SlaPage } from "./Sla";
