// The format of a message: version, the core's id of 16 bytes, 1 if it is whole, then pieces. A piece begins with its
// kind, the length of a name in 2 bytes and the name, of a server or a model. Then follows, by its kind:
//   load      requests, unread tokens, tokens in flight
//   prompt    the number of its blocks in 2 bytes; for each block its hash of 8 bytes and its end
//   head      its class in 1 byte, its account's rank, milliseconds waited, tokens of the prompt and in all; the virtual
//             times of the classes and of each class
//   served    the class in 1 byte, the work, what runs, the length of the account's key in 2 bytes and the key
//   left      the other core's id of 16 bytes, what a load has, 1 if the place is passed on
//   settled   the other core's id of 16 bytes, 1 if the server is unfit
// Trouble, avoided and empty have nothing more. Counts of requests, tokens and milliseconds have 4 bytes; ranks, times
// and work are floating-point numbers of 8. Numbers are little-endian.

export const version = 1;
export const idBytes = 16;
export const headBytes = 2 + idBytes;

export const kinds = {
  load: 1,
  prompt: 2,
  trouble: 3,
  avoided: 4,
  head: 5,
  empty: 6,
  served: 7,
  left: 8,
  settled: 9,
} as const;

/** The longest message, in bytes. */
export const longestMessage = 262_144;
