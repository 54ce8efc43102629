import { SeededRandom } from "../../seeded-random.ts";

/** One message of a prompt. Equal ids are equal texts. */
export interface Turn {
  readonly id: string;
  readonly tokens: number;
}

/** A request of a workload. */
export interface Job {
  /** Milliseconds since the start. */
  readonly at: number;
  /** Whose it is: prefixes are not shared between accounts. */
  readonly account: string;
  readonly turns: readonly Turn[];
  readonly outputTokens: number;
}

/** Requests over some minutes, in the order of their arrival. */
export type Workload = (seed: number, minutes: number) => Job[];

/** Conversations of up to ten turns, each going on when its person has read the answer and thought. */
export const chats: Workload = (seed, minutes) => {
  const random = new SeededRandom(seed);
  const jobs: Job[] = [];
  for (let chat = 0, start = 0; start < minutes * 60_000; chat++, start += random.exponential(220)) {
    const turns: Turn[] = [{ id: `system-${chat % 5}`, tokens: 400 }];
    const count = random.between(2, 10);
    for (let turn = 0, at = start; turn < count; turn++, at += random.exponential(12_000) + 4000) {
      turns.push({ id: `${chat}-question-${turn}`, tokens: random.between(20, 400) });
      const outputTokens = random.between(50, 400);
      jobs.push({ at, account: `account-${chat}`, turns: [...turns], outputTokens });
      turns.push({ id: `${chat}-answer-${turn}`, tokens: outputTokens });
    }
  }
  return jobs.sort((one, other) => one.at - other.at);
};

/** Short questions to thirty assistants with long instructions, some of them much more asked than others. */
export const assistants: Workload = (seed, minutes) => {
  const random = new SeededRandom(seed);
  const jobs: Job[] = [];
  for (let at = 0; at < minutes * 60_000; at += random.exponential(40)) {
    const assistant = Math.floor(30 * random.fraction() ** 2.5);
    const instructions = { id: `instructions-${assistant}`, tokens: 2000 };
    const question = { id: `question-${jobs.length}`, tokens: random.between(20, 200) };
    jobs.push({
      at,
      account: `account-${assistant}`,
      turns: [instructions, question],
      outputTokens: random.between(20, 200),
    });
  }
  return jobs;
};

/** Prompts that have nothing in common. */
export const strangers: Workload = (seed, minutes) => {
  const random = new SeededRandom(seed);
  const jobs: Job[] = [];
  for (let at = 0; at < minutes * 60_000; at += random.exponential(50)) {
    const turns = [{ id: `prompt-${jobs.length}`, tokens: random.between(100, 2500) }];
    jobs.push({ at, account: `account-${jobs.length}`, turns, outputTokens: random.between(50, 300) });
  }
  return jobs;
};
