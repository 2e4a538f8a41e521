/** English words that look like words of other languages and mean nothing here. */
export const PLAIN_ENGLISH: ReadonlySet<string> = new Set(
  (
    'a an the to on in is it of or as at be by do for from if so can will level levels cache cached dir completed ' +
    'completion completes completing completeness future futures indicator indicators indicating indicate indicates ' +
    'direct n integration integrations integrate integrated integrates map maps sure modified modification ' +
    'modifications modifies modify tester testers tested testing normal normalized normalize normally normalise ' +
    'drug drugs ki precise precisely champion champions champ explicit explicitly clients client registration ' +
    'registry registries registered registers register rotation rotations rotate installable installation ' +
    'installations todo todos informed informs information verifying verifies considerations consideration ' +
    'considering specification specifications specific specifically sin personas leverage leverages leveraging ' +
    'levered minimal minimally discussion discussions sage dois concurrent concurrently restrict restricts ' +
    'restricted restrictive ban bans expedient cargo integral diagnose suspension survey surveys surge surges ' +
    'surprise surprises surgical surrounding survived survive permanent provision provisions falls fall indirect ' +
    'spurious conversational falsification ma mad made me men note notes rot son sons sale sales pan pane panel ' +
    'mode modes model models import imports imported important no main mains plan plans place places placed grave ' +
    'grand large sort sorts port ports point points pointer lot lots fin final finals finish voice vice page pages ' +
    'passe passed passes past paste tag tags rest art arts bald bad kind land list lists arm arms band bands ball ' +
    'brief briefs chef fast hand hands herd hut links mist rat rate rates rock see sees tap tar ten tier tiers tod ' +
    'tot use user users wall wand wolf zoo gel gem gift gin glut hub ion keen kit lag lid log net nut ore pal pest ' +
    'pin pit pony pro rag rim rob rod rum sad sang set sly spa sun tan tin tip toe ton top tub tug tun via vain web ' +
    'win won'
  ).split(' '),
);
