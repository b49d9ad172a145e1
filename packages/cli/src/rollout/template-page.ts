/** The page of a pod template. Columns are separated by tabs, as the stock client prints them here. */
import { Page } from '../describe/page.ts';
import { writePodTemplate } from '../describe/pod-template.ts';
import type { PodTemplate } from './workloads.ts';

export function templatePage(template: PodTemplate): string {
  const parts: string[] = [];
  writePodTemplate(new Page(parts), template);
  return parts.join('');
}
