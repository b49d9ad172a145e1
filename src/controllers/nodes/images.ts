/** What is known of images: the web servers that tests and examples use, by the last part of their name. */
import { own } from '../../lib/own.ts';
import { normal } from './shell/files.ts';

/** Where a server has the files that it serves. */
const documentRoots: Readonly<Record<string, string>> = {
  httpd: '/usr/local/apache2/htdocs',
  nginx: '/usr/share/nginx/html',
};
const PAGE = '<html><body><h1>It works!</h1></body></html>\n';

/** `registry.example/library/httpd:2.4@sha256:…` → `/usr/local/apache2/htdocs`; undefined for images that are not known. */
export function documentRootOf(image: string): string | undefined {
  const name = image.slice(image.lastIndexOf('/') + 1).split(/[:@]/)[0] as string;
  return own(documentRoots, name);
}

/** The files that a container of an image begins with, as far as they are known. */
export function imageFiles(image: string): ReadonlyMap<string, string> {
  const root = documentRootOf(image);
  return new Map(root === undefined ? [] : [[`${root}/index.html`, PAGE]]);
}

/** The file for the path of a request: `/` is `/index.html`. */
export function documentPath(root: string, path: string): string {
  const inside = normal(path.split('?')[0] as string);
  return `${root}${inside === '/' ? '/index.html' : inside}`;
}
