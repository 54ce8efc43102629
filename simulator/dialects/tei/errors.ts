// After text-embeddings-inference's router/src/{lib,http/server}.rs and core/src/tokenization.rs, v1.9.
import { EngineError } from "../../engine-error.ts";

/** The most inputs of one request. */
export const maxClientBatchSize = 32;

/** The error for an input that is not truncated. */
export function inputTooLong(tokens: number, limit: number): EngineError {
  return new EngineError(422, `\`inputs\` must have less than ${limit} tokens. Given: ${tokens}`);
}

/** The error for too many inputs. */
export function batchTooLarge(size: number): EngineError {
  return new EngineError(422, `batch size ${size} > maximum allowed batch size ${maxClientBatchSize}`);
}

/** The body of an error answer. It has other fields on the OpenAI route. */
export function errorBody({ status, message }: EngineError, path: string) {
  const type = toType(status);
  return path === "/v1/embeddings" ? { message, code: status, type } : { error: message, error_type: type };
}

function toType(status: number): string {
  switch (status) {
    case 400:
      return "Empty";
    case 422:
      return "Validation";
    case 429:
      return "Overloaded";
    case 503:
      return "Unhealthy";
    default:
      return "Backend";
  }
}
