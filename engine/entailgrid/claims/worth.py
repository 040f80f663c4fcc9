"""Which sentences of an answer state a fact, and why the others do not."""

from __future__ import annotations

import re

_FACT = re.compile(r"\d|[\"“].{8,}[\"”]")
_QUESTION = re.compile(r"[?？]\s*[\"”')\]*_]*\s*$")
_GREETING = re.compile(
    r"(?:hi|hello|hey|dear|good (?:morning|afternoon|evening)|greetings|welcome|cheers|"
    r"sincerely)(?:[ ,]+(?!is\b|are\b|was\b|your?\b|"
    r"the\b|\w+ed\b)[\w.'’-]+){0,4}[.!,]*$|"
    r"(?:thanks?(?! to\b)|thank you|you(?:'|’)re (?:very )?welcome|welcome (?:to|back)|"
    r"my pleasure|goodbye|bye|best regards|kind regards|have an?|safe travels|take care|"
    r"happy to help|glad to)\b[^.!]{0,80}[.!,]?$"
    r"|(?:sure|of course|certainly|absolutely|great|okay|ok|alright|perfect|got it|understood|great question|good question|"
    r"yes|no|congratulations|enjoy)(?:,? \w+){0,2}[.!,]?$",
    re.IGNORECASE,
)
_COURTESY = re.compile(
    r"(?:thank you|thanks(?! to\b)|i apologi[sz]e|my apologies|apologies|i(?:'|’)?m (?:very |so |"
    r"really )?sorry|sorry|i understand|i see|"
    r"i appreciate|i hope|i(?:'|’)?m (?:glad|happy|here|pleased)|i(?:'|’)?d be (?:glad|happy)|feel free|don(?:'|’)t hesitate|"
    r"do not hesitate|have a (?:great|good|nice|wonderful|safe)|safe travels|you(?:'|’)re (?:very )?welcome|"
    r"looking forward|we appreciate|we apologi[sz]e|it(?:'|’)s my pleasure|enjoy your|let(?:'|’)s(?! (?-i:[A-Z])))\b",
    re.IGNORECASE,
)
_UNDERSTOOD = re.compile(r"(?:i understand|i see)\b", re.IGNORECASE)
_REQUEST = re.compile(
    r"(?:please|kindly|could you|can you|would you|will you|may i|can i|could i|shall i|should i|do you|are you|let me|let us|"
    r"tell me|(?:provide|confirm|reply|choose|select|specify|share)(?! [\w-]+ (?:is|are|was|were|has|have|had|"
    r"will|fell|rose)\b)|note that you can ask|to proceed|to assist|to help|"
    r"before (?:proceeding|(?:i|we) (?:can|proceed))|in order to (?:proceed|assist|help))\b",
    re.IGNORECASE,
)
_NEED = re.compile(
    r"\b(?:i|we)(?:(?:'|’)ll| will)? (?:also |first |just |still )*(?:need|require|would need)\b|"
    r"\b(?:could|can|would|will) you\b|\bplease\b|\blet me know\b|\bwould you like\b",
    re.IGNORECASE,
)
_INTENTION = re.compile(
    r"(?:now,? |then,? |next,? |first,? |once \w[^,]{0,80}, |after \w[^,]{0,80}, )?"
    r"(?:(?:i|we)(?:(?:'|’)ll| will| would| am going to|(?:'|’)m going to|(?:'|’)d| may| might| shall| should| need| want|"
    r" am (?:now )?(?:able|checking|looking|searching|processing|proceeding)|"
    r"(?:'|’)m (?:now )?(?:able|checking|looking|searching|processing|proceeding)| am unable|(?:'|’)m unable|"
    r" am not able|(?:'|’)m not able| won(?:'|’)t)|i(?: can(?:not)?| can(?:'|’)t| could)|"
    r"(?:i|we) (?:recommend|suggest) (?:(?:that )?you )?(?:contact|reach|transfer|speak|check|review|consider|"
    r"double|visit|call)\w*|"
    r"we can (?:help|assist|proceed|look|explore|try|start|discuss|go ahead))\b",
    re.IGNORECASE,
)
_OPENING = re.compile(
    r"(?:according to|based on|within|under|given|regarding|with) [^,.;]{1,80}, |in (?:this|that) case, ",
    re.IGNORECASE,
)
_WISH = re.compile(r"you (?:want|wish|would like|(?:'|’)d like) to\b", re.IGNORECASE)
_CONDITIONAL_OFFER = re.compile(
    r"(?:if|should|whenever|once|when) (?:so|not|you|there(?:'|’)s anything|there is anything|anything|this|"
    r"everything|that|you(?:'|’)d)\b[^.]*"
    r"\b(?:let me know|feel free|please|i can|i(?:'|’)ll|i will|i(?:'|’)m here|i(?:'|’)d|we can|reach out|ask|assist|recommend|"
    r"don(?:'|’)t hesitate|would you|you can|contact)\b",
    re.IGNORECASE,
)
_ENTITLED = re.compile(
    r"(?!.*(?:let me know|feel free|\bplease\b|\bi can\b|\bi(?:'|’)ll\b|i will|i(?:'|’)m here|i(?:'|’)d\b|reach out|\bask\b|"
    r"assist|don(?:'|’)t hesitate|would you|contact)).*\b(?:you|we) can\b.*",
    re.IGNORECASE,
)
_SUGGESTION = re.compile(
    r"(?:you (?:might|may|could|would) (?:want|wish|like|need|prefer|consider|also|have to|be able)|"
    r"you (?:can|may|could|should|might) (?:also |always |then |now |still |either )*(?:contact|reach|provide|let|choose|ask|"
    r"call|email|find|check|try|visit|consider|speak|review|refer|see|use|explore|look|select|decide|opt|request|proceed|reply|confirm|note)\b|"
    r"it (?:may|might|would|could) be|the best (?:option|course)|consider|"
    r"i(?:'|’)d|perhaps|maybe|alternatively)\b",
    re.IGNORECASE,
)
_HEDGE = re.compile(
    r"\b(?:might|(?<!you )(?-i:may)|you may(?! not\b)|perhaps|possibly|maybe|presumably|i think|i guess|"
    r"i believe|i assume|we (?:think|assume|believe)|could be|not sure|uncertain|likely|unlikely|"
    r"probably|seems? to|typically|generally|usually)\b",
    re.IGNORECASE,
)
_LEAD_IN = re.compile(
    r"(?:(?:sure|certainly|great|okay|ok|yes|of course|based on [^,]{0,80})[,!.]? )?(?:here(?:'|’)s|here (?:is|"
    r"are)|below (?:is|are)|"
    r"the (?:details|following|options|results|information|available [\w -]{0,60}) (?:is|are)|to (?:confirm|"
    r"summari[sz]e|recap|proceed)|"
    r"the following\b|.{0,120}\bhere (?:is|are) (?:the|your|some)\b[^.]{0,60}:?$|.{0,80}\bas follows:?$|"
    r"(?:details|summary|options|note|result|results|information)\b[^.]{0,40}:$)",
    re.IGNORECASE,
)
_THIRD_PARTY_OFFER = re.compile(
    r"(?:they|he|she|someone|(?:a|an|the|our|any) (?:human |live |support |service |customer )*(?:agents?|team|"
    r"representatives?|staff|specialists?))"
    r" (?:will|can|may|might|could|should|would)(?: be able to)? (?:further |better )?(?:assist|help|look|"
    r"review|investigate|explore|guide|support)\b"
    r"|there (?:was|is|seems to be|may be|might be|appears to be|has been) (?:a |an |"
    r"some )?(?:misunderstanding|confusion|mix-up)\b",
    re.IGNORECASE,
)
_WAIT = re.compile(r"\b(?:hold on|one moment|just a moment|bear with me|a moment while)\b", re.IGNORECASE)
_FILLER = re.compile(
    r"^(?:(?:unfortunately|however|otherwise|additionally|also|furthermore|moreover|therefore|thus|so|then|finally|"
    r"in addition|as a result|"
    r"currently|great news|good news|great|sure|yes|no|okay|ok|certainly|of course|please note(?: that)?|note(?: that)?|"
    r"please (?:note|be aware|be advised|remember|keep in mind|bear in mind)(?: that)?|"
    r"i(?: can)? see (?:in|from|on) [^,.;:!?]{1,50} that|"
    r"as you can see|it(?:'|’)s important to note that|just to confirm|to summari[sz]e|in summary|overall|"
    r"(?:(?:i(?:'|’)m |i am |we(?:'|’)re )?(?:so |very |really )?sorry|(?:my )?apologies|thank(?:s|"
    r" you)(?: so much)? for [^,.;:!?]{1,50})(?:[,;:](?: but)?| but)"
    r"(?=[^.!?]*\b(?:is|are|was|were|has|have|had|did|does|\w{3,}ed)\b)|"
    r"(?:i(?:'|’)m|i am|we(?:'|’)re|we are) (?:so |very |really )?(?:happy|pleased|glad|sorry|"
    r"delighted) to (?:report|confirm|say|inform you|"
    r"let you know|tell you)(?: that)?|(?:i|we) can see that|(?:i|we)(?: will|(?:'|’)ll) note that|"
    r"it (?:appears|seems|looks like)(?: that)?|i(?:'|’)m afraid(?: that)?|i can confirm(?: that)?|i see that|"
    r"for your reference|"
    r"for reference|important|and|but|i (?:understand|appreciate|apologi[sz]e|see|know)\b[^.;:]{0,80}?,? but|"
    r"(?:due to|given|because of) (?:the|our|these|current)[^,.;]{0,60}(?=, (?:i|we)\b))[,:!]?\s+)+",
    re.IGNORECASE,
)
_REFUSAL = re.compile(
    r"(?:i|we) (?:do not|don(?:'|’)t) (?:know|have (?:access|(?:that|this|the|any|more|enough) (?:more )?information))\b|"
    r"(?:i|we) (?:could not|couldn(?:'|’)t|cannot|can(?:'|’)t) find (?:that|this|the|any|enough|"
    r"more) (?:information|details?|answer)\b",
    re.IGNORECASE,
)
_LABELLED = re.compile(r"[^:.!?]{1,40}:\s+")
_FACT_IN_REASON = re.compile(r"\b(?:because|since|as|due to|given that)\b", re.IGNORECASE)


def strip_filler(text: str) -> str:
    """`text` without opening connectives and softeners, its first letter raised."""
    stripped = _FILLER.sub("", text)
    if not re.search(r"[^\W_]", stripped):
        return text
    return stripped[:1].upper() + stripped[1:]


def asks_for_input(text: str) -> bool:
    """Whether a lead-in asks the user for something, so that the list below it is a form, not facts."""
    return bool(_NEED.search(text) or _QUESTION.search(text))


def is_lead_in(text: str) -> bool:
    """Whether a sentence only announces what follows."""
    return bool(_LEAD_IN.match(text))


def no_claim(text: str) -> str | None:
    """Why a sentence holds no checkable fact (`question`, `greeting`, `request`, `intention`, `offer`, `hedge`), or `None`.

    A sentence with a figure or a quotation is never skipped as a greeting, suggestion or hedge: softened figures are still
    figures.
    """
    bare = strip_filler(text.strip())
    if not re.search(r"[^\W_]", bare):
        return "no words"
    if re.match(r"(?:no (?:problem|worries)|great question)\b[^.!]{0,20}[.!,]*$", text.strip(), re.IGNORECASE):
        return "greeting"
    if _REFUSAL.match(bare):
        return "refusal"
    if _QUESTION.search(bare):
        return "question"
    if (label := _LABELLED.match(bare)) and _REQUEST.match(bare[label.end() :]):
        return "request"
    has_fact = bool(_FACT.search(bare))
    offered = _CONDITIONAL_OFFER.match(bare) and not (has_fact and _ENTITLED.fullmatch(bare))
    if offered or _WAIT.search(bare) or (not has_fact and _THIRD_PARTY_OFFER.match(bare)):
        return "offer"
    if _REQUEST.match(bare):
        return "request"
    if not has_fact and _GREETING.match(bare):
        return "greeting"
    if not (has_fact and _UNDERSTOOD.match(bare)) and _COURTESY.match(bare) and not (has_fact and " but " in bare):
        return "courtesy"
    opening = _OPENING.match(bare)
    if not has_fact and (_WISH.match(bare) or (opening and _INTENTION.match(bare, opening.end()))):
        return "intention"
    if _INTENTION.match(bare) and not (has_fact and _FACT_IN_REASON.search(bare)):
        return "intention"
    if not has_fact and _SUGGESTION.match(bare):
        return "suggestion"
    if not has_fact and _HEDGE.search(bare):
        return "hedge"
    return None
