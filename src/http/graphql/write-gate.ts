/** Refuses mutations that store data while the server's disk is almost full; reads are never refused. */
import { isPossibleOnFullDisk } from "../../domain/common/full-disk.js";
import { STORAGE_FULL_TEXT } from "../../domain/files/storage-limits.js";
import type { SpaceCheck } from "../../lib/free-space.js";
import type { RateGate } from "../common/rate-gate.js";
import { unavailable } from "./refusals.js";
import { rootFields } from "./root-fields.js";

/** Adds the disk check in front of a rate gate: what is refused here is not counted. */
export function guardWrites(gate: RateGate, space: Pick<SpaceCheck, "isLow">): RateGate {
  return {
    ...gate,
    async refuseOperation(document, operation, source) {
      if (operation.operation === "mutation" && space.isLow) {
        const fields = rootFields(document, operation.selectionSet);
        if (!isPossibleOnFullDisk(fields)) return unavailable(STORAGE_FULL_TEXT);
      }
      return gate.refuseOperation(document, operation, source);
    },
  };
}
