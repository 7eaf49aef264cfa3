export { METER_VERSION } from "./cost-table.ts";
export { type TrapCause, readTrapCause } from "./trap-cause.ts";
export { meterModule } from "./meter-module.ts";
export type { CustomSection, Metered, MeterOptions, ModuleExports, ModuleFacts } from "./meter-options.ts";
export { stackBytesFor } from "./stack-bytes.ts";
export { METER_REASONS, type MeterReason } from "./meter-reason.ts";
export { I32, I64 } from "./value-type.ts";
