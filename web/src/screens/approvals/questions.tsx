import type { VNode } from 'preact';
import type { Question } from '../../lib/types';
import { Safe } from '../../ui/text';

/** The answers to the questions of a request, by their ids. */
export type Answers = Record<string, string[]>;

/** Questions shows what an agent wants to know, with the answers it offers and room for own words. */
export function Questions({ list, answers, change }: { list: Question[]; answers: Answers; change: (a: Answers) => void }): VNode {
  return <>{list.map((q, i) => <One key={q.id} question={q} number={i} given={answers[q.id] ?? []} give={(g) => change({ ...answers, [q.id]: g })} />)}</>;
}

function One({ question, number, given, give }: { question: Question; number: number; given: string[]; give: (g: string[]) => void }): VNode {
  const offered = question.options?.map((o) => o.label) ?? [];
  const own = given.find((g) => !offered.includes(g)) ?? '';
  const chosen = given.filter((g) => offered.includes(g));
  const kind = question.multiple ? 'checkbox' : 'radio';
  const pick = (label: string, on: boolean): void => {
    if (!question.multiple) { give([label]); return; }
    give([...chosen.filter((c) => c !== label), ...(on ? [label] : []), ...(own === '' ? [] : [own])]);
  };
  const name = 'question-' + number;
  return (
    <fieldset class="question">
      <legend><Safe text={question.text ?? ''} /></legend>
      {(question.options ?? []).map((o) => (
        <label class="check">
          <input type={kind} name={name} checked={chosen.includes(o.label)} onChange={(e) => pick(o.label, e.currentTarget.checked)} />
          <span><Safe text={o.label} />{o.description && <span class="muted"> <Safe text={o.description} /></span>}</span>
        </label>
      ))}
      <input aria-label="in your own words" placeholder="In your own words" value={own}
        onInput={(e) => { const v = e.currentTarget.value; give([...(question.multiple ? chosen : []), ...(v === '' ? [] : [v])]); }} />
    </fieldset>
  );
}
