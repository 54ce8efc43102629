import type { EmbedRequest } from "#gen/tollgate/embeddings/v1/embeddings_service_pb.js";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { failure } from "../../lib/errors/failure.ts";

/** The most inputs of one request; the public surface promises the same. */
const maxInputs = 2048;

/** What a request must hold whatever the model is. Throws INVALID_ARGUMENT with the field. */
export function validate({ inputs }: EmbedRequest): void {
  if (inputs.length === 0) {
    throw refusal("inputs", "At least one input is required.");
  }
  if (inputs.length > maxInputs) {
    throw refusal("inputs", `At most ${maxInputs} inputs are taken at once.`);
  }
  const empty = inputs.indexOf("");
  if (empty >= 0) {
    throw refusal(`inputs[${empty}]`, `Input ${empty} must not be empty.`);
  }
}

const refusal = (parameter: string, message: string) => failure(Reason.INVALID_ARGUMENT, message, { parameter });
