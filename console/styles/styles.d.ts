// The bundler turns imported style sheets into one file.
declare module "*.css";
