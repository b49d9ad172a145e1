/** The site: what stands where, and how links of the repository become links of the site. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitepress';

const docs = fileURLToPath(new URL('..', import.meta.url));
const titleOf = (file) => /^# (.+)$/m.exec(readFileSync(join(docs, file), 'utf8'))?.[1].replaceAll('`', '') ?? file;
const entry = (name) => ({ text: titleOf(`${name}.md`), link: `/${name}` });
const entries = (...names) => names.map(entry);
const pagesIn = (folder) =>
  readdirSync(join(docs, folder))
    .filter((name) => name.endsWith('.md') && name !== 'README.md')
    .map((name) => entry(`${folder}/${name.slice(0, -3)}`));

const start = entries('start/operator-go', 'start/operator-typescript', 'start/chart', 'start/platform', 'start/learn');
const reference = [
  { text: 'The API, release by release', link: '/reference/api' },
  { text: 'Flags of the server', link: '/reference/flags' },
  { text: 'Commands', link: '/reference/commands' },
  { text: 'Feature gates by release', link: '/reference/gates' },
  { text: 'Metrics', link: '/reference/metrics' },
  { text: 'Errors', link: '/reference/errors' },
];
const sidebar = [
  { text: 'In five minutes', items: start },
  {
    text: 'Using it',
    items: entries(
      'install',
      'command-line',
      'console',
      'workloads',
      'embedding',
      'packages',
      'programs',
      'coming-from-envtest',
      'coming-from-kind',
      'troubleshooting',
    ),
  },
  { text: 'Asking it', items: entries('why', 'history', 'owners', 'explain') },
  {
    text: 'Running it',
    items: entries(
      'operations',
      'storage',
      'storage-etcd',
      'encryption',
      'security',
      'fairness',
      'reliability',
      'scale',
      'upgrading',
      'versioning',
      'feature-gates',
    ),
  },
  {
    text: 'The API',
    items: entries('requests', 'custom-resources', 'admission', 'field-validation', 'aggregation', 'controllers', 'kinds'),
  },
  { text: 'Reference', items: reference },
  { text: 'Changing it', items: [...entries('ARCHITECTURE', 'internals', 'dependencies'), ...pagesIn('how-to')] },
  { text: 'Decisions', link: '/decisions/' },
];

/** Files of the repository that are no pages are named, not linked: the site has no copy of them. A link to nothing ends the build. */
function pagesOfRepository(md) {
  // Blocks that are indented are shown as those between fences.
  md.renderer.rules.code_block = (tokens, index, ...rest) => {
    tokens[index].info = 'sh';
    return md.renderer.rules.fence(tokens, index, ...rest);
  };
  // The first column of some tables has no heading.
  const { th_open: heading, th_close: headingEnd } = md.renderer.rules;
  const isEmpty = (tokens, index) => tokens[index]?.type === 'inline' && tokens[index].content === '';
  md.renderer.rules.th_open = (tokens, index, options, env, self) =>
    isEmpty(tokens, index + 1) ? '<td>' : (heading?.(tokens, index, options, env, self) ?? self.renderToken(tokens, index, options));
  md.renderer.rules.th_close = (tokens, index, options, env, self) =>
    isEmpty(tokens, index - 1) ? '</td>' : (headingEnd?.(tokens, index, options, env, self) ?? self.renderToken(tokens, index, options));
  const { link_open: before } = md.renderer.rules;
  md.renderer.rules.link_open = (tokens, index, options, env, self) => {
    const token = tokens[index];
    const href = token.attrGet('href') ?? '';
    const page = env.path ?? '';
    if (!/^[a-z]+:|^#|^\//.test(href) && page !== '') {
      const target = resolve(dirname(page), decodeURI(href.split('#')[0]));
      if (target.endsWith('README.md')) token.attrSet('href', href.replace('README.md', ''));
      const isOutside = relative(docs, target).startsWith('..');
      if (isOutside) {
        if (!existsSync(target)) throw new Error(`${relative(docs, page)} links to ${href}, which is not there`);
        token.tag = 'span';
        token.attrs = [];
        for (let at = index; at < tokens.length; at++)
          if (tokens[at].type === 'link_close') {
            tokens[at].tag = 'span';
            break;
          }
      }
    }
    return before ? before(tokens, index, options, env, self) : self.renderToken(tokens, index, options);
  };
}

export default defineConfig({
  title: 'plat',
  description: 'An API server for declarative control planes: compatible with the stock cluster API, fast, ready at once.',
  outDir: fileURLToPath(new URL('../../site', import.meta.url)),
  cleanUrls: false,
  srcExclude: ['README.md'],
  rewrites: { 'decisions/README.md': 'decisions/index.md', 'how-to/README.md': 'how-to/index.md' },
  markdown: { config: pagesOfRepository, theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' } },
  themeConfig: {
    search: { provider: 'local' },
    nav: [
      { text: 'In five minutes', items: start },
      { text: 'Reference', items: reference },
      { text: 'Decisions', link: '/decisions/' },
    ],
    sidebar,
    outline: [2, 3],
  },
});
