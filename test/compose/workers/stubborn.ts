// A worker that is ready and does not end when it is asked to.

process.on("SIGTERM", () => {});
process.send?.({ type: "ready", addresses: {} });
