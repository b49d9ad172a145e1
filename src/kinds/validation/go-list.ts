/** Lists in complaints, printed the way clients of a stock server know them: `[]networking.PolicyType{"Ingress"}`. */
export function goList(type: string, list: readonly (string | number)[] | undefined): string {
  return list === undefined ? `[]${type}(nil)` : `[]${type}{${list.map((item) => JSON.stringify(item)).join(', ')}}`;
}
