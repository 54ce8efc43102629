import type { Column } from "./table.ts";

/** Engines that no machine without a GPU can have from its packages. */
export const absent: readonly Column[] = [
  {
    title: "SGLang",
    version: "0.5.23",
    outcomes:
      "its package asks for CUDA kernels (`sglang-kernel`, `flashinfer`); those for processors (`sgl-kernel-cpu`) are on no package registry",
  },
  {
    title: "TensorRT-LLM",
    version: "1.2.1",
    outcomes: "there is no built package of it for machines without its GPU libraries",
  },
  {
    title: "Text Embeddings Inference",
    version: "1.9.3",
    outcomes:
      "`text-embeddings-router` is on no package registry, only in images and as source, which asks for a fork of its libraries by git",
  },
];
