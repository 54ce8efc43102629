/** How long a core that found too little shared money waits before it looks again. */
export const lookAgainMs = 250;
/** The least time between two calls to other cores for lacking money: each call makes all of them ask the store. */
export const callInMs = 500;
/** Money unused for this long is given back. */
export const idleMs = 300_000;
/** The same when the store has no more of the money, so that another core may need it. */
export const idleSharedMs = 3000;
