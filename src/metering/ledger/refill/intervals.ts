/** Where cores share money, how long one that found too little waits before it looks again. */
export const lookAgainMs = 250;
/** How often at most a core asks the others for money that it lacks: each time all of them ask the store. */
export const callInMs = 500;
/** Money that was not used for this long is given back where another core may need it. */
export const idleSharedMs = 3000;
