import type { Surface } from "../gate.ts";
import { repeated, repeatedQuestion } from "../model/said.ts";
import { readCounts } from "../told.ts";
import { holds, type Row, same } from "./row.ts";

const maxTokens = 100;

/** One word again and again, which an engine may end on its own and without a count. */
export const repetitionRow: Row = {
  name: "repetition",
  async run({ gate, tee, keep }) {
    let remark: string | undefined;
    for (const surface of ["chat", "messages"] satisfies Surface[]) {
      tee.take();
      const question = { turns: [repeatedQuestion], thinking: false, stream: true, maxTokens, seen: true };
      const answer = await gate.ask(surface, question);
      same(`${surface}: the error`, answer.error, undefined);
      const words = answer.text.trim().split(" ").length;
      same(`${surface}: the text`, answer.text.trim(), repeated.repeat(words).trim());
      same(`${surface}: the end`, answer.finish, surface === "chat" ? "length" : "max_tokens");
      const [exchange] = tee.take();
      const counted = exchange && readCounts(exchange);
      const receipt = await gate.receipt(answer.requestId);
      if (counted === undefined) {
        remark = `ended by the engine after ${words} words without a count, charged ${receipt?.output_tokens}`;
        same(`${surface}: the charge`, receipt?.output_tokens, words);
      } else {
        same(`${surface}: the charge`, receipt?.output_tokens, counted.output);
        // transformers serve repeats the word with which the template ends.
        holds(`${surface}: ${words} words of ${counted.output} tokens`, [0, 1].includes(words - counted.output));
      }
      if (exchange !== undefined) {
        keep("repetition", exchange);
      }
    }
    return remark;
  },
};
