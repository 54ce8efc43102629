import { Thinking } from "#gen/tollgate/inference/v1/inference_service_pb.js";
import type { EngineThinking, ThinkingRecipe } from "#src/fleet/engines/interface.ts";

/**
 * The thinking switch's position for a request. A model's own default is always sent explicitly, so that a server
 * started with another default cannot change what callers get.
 *
 * @returns undefined when the model has nothing to set.
 */
export function planThinking(asked: Thinking, recipe: ThinkingRecipe): EngineThinking | undefined {
  const deepest = recipe.depths && (asked === Thinking.HIGH || asked === Thinking.MAX);
  switch (recipe.mode) {
    case "none":
      return undefined;
    case "always":
      return recipe.depths ? { enabled: true, deepest } : undefined;
    case "default_off":
      return { enabled: asked !== Thinking.UNSPECIFIED && asked !== Thinking.OFF, deepest };
    case "default_on":
      return { enabled: asked !== Thinking.OFF, deepest };
  }
}
