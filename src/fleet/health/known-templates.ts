import type { ServedModel } from "../catalogue/interface.ts";

/** Tokens that a template is taken to add until a server has counted more, unless the configuration gives a number. */
const usualTemplateTokens = { generation: 256, embedding: 16 } as const;

/**
 * What the template of each model is known to add to a prompt: what the configuration says, or the most that a server
 * has counted beyond the prompt's own bound. Holds are made with it, so that they cover what is charged.
 */
export class KnownTemplates {
  readonly #tokens = new Map<string, number>();

  of({ id, kind, template_tokens }: ServedModel): number {
    return Math.max(template_tokens ?? usualTemplateTokens[kind], this.#tokens.get(id) ?? 0);
  }

  /** Notes that a server has counted so many tokens beyond a prompt's own bound. */
  learn(model: ServedModel, tokens: number): void {
    if (tokens > this.of(model)) {
      this.#tokens.set(model.id, tokens);
    }
  }
}
